#!/usr/bin/env bash
# npm run chart:check: lints the chart, renders it, and validates every resource. Installs what is missing: helm and
# kubeconform with Go 1.26 or newer, the schemas of Kubernetes with pip, those of the Prometheus operator with Go.
set -euo pipefail
cd "$(dirname "$0")/../.."

tools=$PWD/test/chart/.tools
mkdir -p "$tools"
export PATH=$tools:$PATH

command -v helm >/dev/null || GOBIN=$tools go install helm.sh/helm/v3/cmd/helm@v3.22.0
command -v kubeconform >/dev/null || GOBIN=$tools go install github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0

package=kubernetes_validate-1.37.0-py3-none-any.whl
if [ ! -d "$tools/kubernetes_validate" ]; then
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$tools" kubernetes-validate==1.37.0
  python3 -m zipfile -e "$tools/$package" "$tools"
  rm "$tools/$package"
fi
operator=github.com/prometheus-operator/prometheus-operator@v0.85.0
prometheus=$(go mod download -json "$operator" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')

bash test/chart/install-helm.sh

# CHART_CRDS: a directory with CustomResourceDefinitions of Strimzi and of Altinity's operator. No package has them.
export KUBERNETES_SCHEMAS=$tools/kubernetes_validate/kubernetes-json-schema
export PROMETHEUS_CRDS=$prometheus/example/prometheus-operator-crd
exec npx vitest run --config test/chart/vitest.config.ts "$@"
