"""Renders the chart as `helm template`: reads {"chart", "values", "isUpgrade", "name"}, writes each template's text."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / ".helm"))
import helm_python  # noqa: E402

asked = json.load(sys.stdin)
try:
    with helm_python.Chart.load(asked["chart"]) as chart:
        chart.validate_schema(asked["values"])
        rendered = chart.render(
            asked["values"],
            name=asked["name"],
            namespace="default",
            is_install=not asked["isUpgrade"],
            is_upgrade=asked["isUpgrade"],
        )
except helm_python.HelmError as error:
    sys.exit(str(error))
json.dump(rendered, sys.stdout)
