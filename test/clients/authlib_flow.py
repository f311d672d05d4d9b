# Authlib, as it comes, runs the whole flow. Reads one JSON line with the registration; writes the authorization
# address as a line, reads the callback's address as a line, and writes what it learnt as one JSON line.
import json
import sys

import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.jwk import KeySet

registration = json.loads(sys.stdin.readline())
discovery = requests.get(registration["issuer"] + "/.well-known/openid-configuration", timeout=10).json()

session = OAuth2Session(
    client_id=registration["clientId"],
    client_secret=registration["clientSecret"],
    scope=registration["scope"],
    redirect_uri=registration["redirectUri"],
    token_endpoint_auth_method=registration["method"],
    code_challenge_method="S256",
)
verifier, nonce = generate_token(64), generate_token(32)
address, state = session.create_authorization_url(
    discovery["authorization_endpoint"], code_verifier=verifier, nonce=nonce
)
print(address, flush=True)
callback = sys.stdin.readline().strip()

token = session.fetch_token(
    discovery["token_endpoint"], authorization_response=callback, state=state, code_verifier=verifier
)
keys = KeySet.import_key_set(requests.get(discovery["jwks_uri"], timeout=10).json())
id_token = jwt.decode(token["id_token"], keys, algorithms=["RS256"])
claims = CodeIDToken(
    id_token.claims,
    id_token.header,
    options={
        "iss": {"essential": True, "value": discovery["issuer"]},
        "aud": {"essential": True, "value": registration["clientId"]},
    },
    params={"nonce": nonce, "client_id": registration["clientId"]},
)
claims.validate(leeway=5)
info = session.get(discovery["userinfo_endpoint"], timeout=10)
refreshed = session.refresh_token(discovery["token_endpoint"], refresh_token=token["refresh_token"])
events = session.get(registration["issuer"] + "/api/events", timeout=10)

print(
    json.dumps(
        {
            "issuer": discovery["issuer"],
            "claims": dict(claims),
            "userInfo": info.json(),
            "refreshedAnew": refreshed["refresh_token"] != token["refresh_token"],
            "eventsStatus": events.status_code,
            "events": len(events.json()["items"]),
        }
    ),
    flush=True,
)
