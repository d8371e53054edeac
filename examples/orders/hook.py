#!/usr/bin/env python3
"""Prints the alerts that are posted to it, one a line: hook.py PORT"""
import http.server
import json
import sys


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        notice = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        print(notice["status"], notice["severity"], notice["alert"], notice["summary"], sep="  ", flush=True)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Hook).serve_forever()
