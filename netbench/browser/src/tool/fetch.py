import http.client, json, ssl, sys
from urllib.parse import urlsplit
url, roots, seconds = urlsplit(sys.argv[1]), sys.argv[2], float(sys.argv[3])
result = {}
try:
    context = ssl.create_default_context(cafile=roots)
    connection = http.client.HTTPSConnection(url.hostname, url.port, timeout=seconds, context=context)
    connection.request("GET", url.path or "/")
    response = connection.getresponse()
    result["status"] = response.status
    result["bytes"] = len(response.read())
except Exception as error:
    result["error"] = type(error).__name__
    result["said"] = str(error)
    result["reason"] = getattr(error, "reason", None)
    result["verify"] = getattr(error, "verify_code", None)
print(json.dumps(result, default=str))
