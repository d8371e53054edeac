#!/usr/bin/env python3
"""Prices an order: the body comes on stdin, the attempt's number in the environment.

An unknown PIN code is a bug that no retry mends (KeyError); an order with a `trip` needs that many
attempts before the tax service answers (TimeoutError)."""
import json
import os
import sys

TAX = {"110001": 5, "400001": 12, "560001": 18}


def price(order, attempt):
    if order.get("trip", 0) >= attempt:
        raise TimeoutError("downstream tax-svc 503")
    return order.get("amount", 100) * (100 + TAX[order["pin"]]) / 100


if __name__ == "__main__":
    order = json.load(sys.stdin)
    print(json.dumps({"price": price(order, int(os.environ["IMPOUND_ATTEMPT"]))}))
