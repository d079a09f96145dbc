"""A client of the generated SDK, run in a temporary folder beside hoplog_client/ by generated-clients.test.ts."""

import json
import os

from hoplog_client import AuthenticatedClient
from hoplog_client.api.clicks import clicks_list
from hoplog_client.api.links import links_create_bulk, links_list
from hoplog_client.api.referrals import referrals_report_signup
from hoplog_client.models import (
    BulkCreateLinks,
    CreatableChannel,
    CreatedLinks,
    CreateLinks,
    LinkPerformance,
    LinkRecordsPage,
    LinksListView,
    ReportSignup,
)
from hoplog_client.types import UNSET

client = AuthenticatedClient(
    base_url=os.environ["API_URL"], token=os.environ["API_KEY"], raise_on_unexpected_status=True
)

rows = [
    CreateLinks(
        destination_url="https://shop.example/",
        name=f"Campaign {index}",
        channel=CreatableChannel.NEWSLETTER,
    )
    for index in range(400)
]
created = links_create_bulk.sync(client=client, body=BulkCreateLinks(links=rows))
made = [str(link.id) for row in created.results if isinstance(row.body, CreatedLinks) for link in row.body.links]

records = []
cursor = UNSET
while cursor is not None:
    page = links_list.sync(client=client, view=LinksListView.RECORDS, limit=37, cursor=cursor)
    assert isinstance(page, LinkRecordsPage), page
    records += [str(link.id) for link in page.links]
    cursor = page.next_cursor

performance = links_list.sync(client=client)
assert isinstance(performance, LinkPerformance), performance

clicks = []
before = UNSET
while before is not None:
    page = clicks_list.sync(client=client, limit=333, before=before)
    clicks += [str(click.id) for click in page.clicks]
    before = page.next_cursor

signup = referrals_report_signup.sync(client=client, body=ReportSignup(new_user_external_user_id="nobody"))

print(
    json.dumps(
        {
            "made": made,
            "records": records,
            "clicks": clicks,
            "from": performance.window.from_.isoformat(),
            "matched": signup.matched,
        }
    )
)
