"""As webhooks.mjs, with the library for Python."""
import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

cases = [json.loads(line) for line in sys.stdin]
for case in cases:
    try:
        Webhook(case["secret"]).verify(case["body"], case["headers"])
        holds = True
    except WebhookVerificationError:
        holds = False
    assert holds == case["holds"], case["name"]
print(len(cases), "as they should be")
