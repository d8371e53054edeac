#!/usr/bin/env python3
"""A stream worker: one JSON line in, one JSON line out, until stdin ends (docs/stream.md).

impound starts a few of these and keeps them. What is slow to set up (a model, a connection) is set
up once, at the top of main."""
import json
import sys
import traceback


class Busy(Exception):
    """The shop behind us cannot take more just now."""


def price(order):
    if order.get("busy"):
        raise Busy("the till is closed")
    return {"order": order["order"], "total": sum(item["price"] * item.get("count", 1)
                                                  for item in order["items"])}


def answer(message):
    try:
        return {"id": message["id"], "ok": True, "result": price(message["body"])}
    except Busy as busy:
        return {"id": message["id"], "ok": False, "error_type": "Busy", "error_message": str(busy),
                "status": 503, "retry_after": 1}
    except Exception as error:  # a bug of ours: the rules decide by its type
        return {"id": message["id"], "ok": False, "error_type": type(error).__name__,
                "error_message": str(error), "stack_trace": traceback.format_exc()}


def main():
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
