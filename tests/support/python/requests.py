"""What the Python samples use of the package `requests`. Only machines without the package import this module."""

import json as json_module
import urllib.error
import urllib.request
import uuid


class Response:
    def __init__(self, status_code, content):
        self.status_code = status_code
        self.content = content

    def json(self):
        return json_module.loads(self.content)

    def raise_for_status(self):
        if self.status_code >= 400:
            raise RuntimeError(f"The response is {self.status_code}: {self.content!r}")


def request(method, url, *, headers=None, json=None, files=None, timeout):
    sent = dict(headers or {})
    body = None
    if json is not None:
        body = json_module.dumps(json).encode()
        sent["Content-Type"] = "application/json"
    if files is not None:
        body, sent["Content-Type"] = _form(files)
    prepared = urllib.request.Request(url, data=body, headers=sent, method=method)
    try:
        with urllib.request.urlopen(prepared, timeout=timeout) as response:
            return Response(response.status, response.read())
    except urllib.error.HTTPError as error:
        with error:
            return Response(error.code, error.read())


def _form(files):
    boundary = uuid.uuid4().hex
    parts = []
    for name, file in files.items():
        with file:
            disposition = f'form-data; name="{name}"; filename="{file.name}"'
            head = f"--{boundary}\r\nContent-Disposition: {disposition}\r\n\r\n"
            parts.append(head.encode() + file.read() + b"\r\n")
    return b"".join([*parts, f"--{boundary}--\r\n".encode()]), f"multipart/form-data; boundary={boundary}"
