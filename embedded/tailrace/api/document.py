"""`python -m tailrace.api.document`: prints the OpenAPI document, for docs/openapi.json."""

import json
import sys

from tailrace.api.application import application


def main() -> int:
    print(json.dumps(application(None).openapi(), indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
