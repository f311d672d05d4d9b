# A partner's backend in one file: it connects a user with Authlib and reads her events and designs. Tokens are kept in memory.
# A real backend encrypts them at rest and locks the refresh across its processes, as services/demo-partner does.
import logging
import os
import secrets
import threading
import time

import requests
from authlib.integrations.flask_client import FlaskIntegration, OAuth
from authlib.integrations.requests_client import OAuth2Session
from cachelib import SimpleCache
from flask import Flask, redirect, request, session
from werkzeug.serving import make_server

ISSUER, CLIENT_ID, CLIENT_SECRET = (os.environ[name] for name in ("ISSUER", "CLIENT_ID", "CLIENT_SECRET"))
REDIRECT_URI = os.environ.get("REDIRECT_URI", "http://127.0.0.1:9099/callback")
REFRESH_BEFORE = int(os.environ.get("REFRESH_BEFORE", "60"))

app = Flask(__name__)
app.config.update(SECRET_KEY=secrets.token_bytes(), SESSION_COOKIE_SAMESITE="Lax")  # with https: SESSION_COOKIE_SECURE
FlaskIntegration.expires_in = 600  # seconds that a login may take
oauth = OAuth(app, cache=SimpleCache()).register(  # without a cache, the verifier would be in the cookie
    "exchange",
    client_id=CLIENT_ID,
    client_secret=CLIENT_SECRET,
    server_metadata_url=ISSUER + "/.well-known/openid-configuration",
    client_kwargs={"scope": "openid", "code_challenge_method": "S256", "default_timeout": 10},
)
rules = {"iss": ISSUER, "aud": CLIENT_ID, "token_use": "id_token"}
claims_options = {name: {"essential": True, "value": value} for name, value in rules.items()}
connections, lock = {}, threading.Lock()  # a real backend has a lock for each connection

def access_token(token, refused=None):
    """One refresh at a time. The refresh token is taken out before it is sent; new tokens are kept before their use."""
    with lock:
        if token["access_token"] == refused or token["expires_at"] - time.time() <= REFRESH_BEFORE:
            token.update(refresh(token.pop("refresh_token")))
        return token["access_token"]

def refresh(refresh_token, tries=2):
    """Only our 503 says that the token was not consumed: then it is sent once more, after Retry-After."""
    endpoint = oauth.load_server_metadata()["token_endpoint"]
    try:
        return OAuth2Session(CLIENT_ID, CLIENT_SECRET, default_timeout=10).refresh_token(endpoint, refresh_token)
    except requests.HTTPError as error:
        if error.response.status_code != 503 or "temporarily_unavailable" not in error.response.text or tries == 1:
            raise
        time.sleep(int(error.response.headers.get("Retry-After", 3)))
        return refresh(refresh_token, tries - 1)

@app.get("/connect")
def connect():
    if oauth.server_metadata.get("_loaded_at", 0) < time.time() - 3600:
        oauth.server_metadata.clear()
    return oauth.authorize_redirect(REDIRECT_URI)

@app.get("/callback")
def callback():  # Authlib ends the login before the exchange, and checks state, error, and the ID token with its nonce
    token = oauth.authorize_access_token(claims_options=claims_options, leeway=5)
    session.clear()
    session["id"] = secrets.token_urlsafe()
    connections[session["id"]] = token  # of the user token["userinfo"]["iss"], ["sub"]
    return redirect("/events", 303)

@app.get("/events")
@app.get("/events/<event>/designs")
def events(event=None):
    connection, refused = connections[session["id"]], None
    for _ in range(2):
        refused = access_token(connection, refused)
        headers = {"Authorization": f"Bearer {refused}"}
        answer = requests.get(f"{ISSUER}/api{request.path}", headers=headers, timeout=10)
        if answer.status_code != 401:
            break
    return answer.text, answer.status_code

@app.errorhandler(Exception)
def failed(error):
    session.clear()
    return f"{type(error).__name__}: start at /connect.", 400

logging.getLogger("werkzeug").disabled = True  # it logs codes
server = make_server("127.0.0.1", int(os.environ.get("PORT", "9099")), app, threaded=True)
print("Open", REDIRECT_URI.replace("/callback", "/connect"), flush=True)
server.serve_forever()
