// .ci/run skips this client on a machine without java or mvn; hosted CI runs it.
// A partner's backend in one file: it connects a user with Nimbus and reads her events and designs. Tokens are kept in memory.
// A real backend encrypts them at rest and locks the refresh across its processes, as services/demo-partner does.
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.oauth2.sdk.*;
import com.nimbusds.oauth2.sdk.auth.*;
import com.nimbusds.oauth2.sdk.http.*;
import com.nimbusds.oauth2.sdk.id.*;
import com.nimbusds.oauth2.sdk.pkce.*;
import com.nimbusds.oauth2.sdk.token.*;
import com.nimbusds.openid.connect.sdk.*;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import com.sun.net.httpserver.*;
import java.net.*;
import java.util.Map;
import java.util.concurrent.*;

public class Main {
    record Login(State state, Nonce nonce, CodeVerifier verifier) {}
    interface Page { void show(HttpExchange exchange, String id) throws Exception; }

    static final Map<String, String> env = System.getenv();
    static final URI redirectUri = URI.create(env.getOrDefault("REDIRECT_URI", "http://127.0.0.1:9099/callback"));
    static final ClientID client = new ClientID(env.get("CLIENT_ID"));
    static final ClientAuthentication basic = new ClientSecretBasic(client, new Secret(env.get("CLIENT_SECRET")));
    static final Map<String, Login> logins = new ConcurrentHashMap<>();
    static final Map<String, Session> sessions = new ConcurrentHashMap<>();
    static OIDCProviderMetadata provider;
    static IDTokenValidator validator;

    static class Session {
        AccessToken access;
        RefreshToken refresh;
        long ends;

        void keep(Tokens tokens) {
            access = tokens.getAccessToken();
            refresh = tokens.getRefreshToken();
            ends = System.currentTimeMillis() + access.getLifetime() * 1000;
        }

        /** One refresh at a time. The refresh token leaves the session before it is sent; new tokens are kept before their use. */
        synchronized AccessToken accessToken(AccessToken refused) throws Exception {
            long left = ends - System.currentTimeMillis();
            if (!access.equals(refused) && left > Long.parseLong(env.getOrDefault("REFRESH_BEFORE", "60")) * 1000) return access;
            var grant = new RefreshTokenGrant(refresh); // fails without a refresh token
            refresh = null;
            keep(once(grant).getTokens());
            return access;
        }
    }

    /** Sends a code or refresh token once. Only our 503 says that it was not consumed: then once more, after Retry-After. */
    static AccessTokenResponse once(AuthorizationGrant grant) throws Exception {
        var request = new TokenRequest.Builder(provider.getTokenEndpointURI(), basic, grant).build();
        var answer = send(request.toHTTPRequest());
        if (answer.getStatusCode() == 503 && answer.getBody().contains("\"temporarily_unavailable\"")) {
            var seconds = answer.getHeaderValue("Retry-After");
            Thread.sleep(1000 * Long.parseLong(seconds == null ? "3" : seconds));
            answer = send(request.toHTTPRequest());
        }
        return (AccessTokenResponse) OIDCTokenResponseParser.parse(answer).toSuccessResponse();
    }

    static HTTPResponse send(HTTPRequest request) throws Exception {
        request.setConnectTimeout(10_000);
        request.setReadTimeout(10_000);
        return request.send();
    }

    static void connect(HttpExchange exchange, String before) throws Exception {
        var id = new State(32).getValue();
        var login = new Login(new State(), new Nonce(), new CodeVerifier());
        logins.put(id, login);
        CompletableFuture.delayedExecutor(10, TimeUnit.MINUTES).execute(() -> logins.remove(id));
        var request = new AuthenticationRequest.Builder(ResponseType.CODE, new Scope("openid"), client, redirectUri)
            .endpointURI(provider.getAuthorizationEndpointURI()).state(login.state).nonce(login.nonce)
            .codeChallenge(login.verifier, CodeChallengeMethod.S256).build();
        redirect(exchange, request.toURI().toString(), id);
    }

    static void callback(HttpExchange exchange, String id) throws Exception {
        var login = logins.remove(id); // before anything else: a callback is taken once
        var answer = AuthenticationResponseParser.parse(redirectUri.resolve(exchange.getRequestURI())).toSuccessResponse();
        if (!login.state.equals(answer.getState())) throw new SecurityException();
        var grant = new AuthorizationCodeGrant(answer.getAuthorizationCode(), redirectUri, login.verifier);
        var tokens = ((OIDCTokenResponse) once(grant)).getOIDCTokens();
        var claims = validator.validate(tokens.getIDToken(), login.nonce); // RS256, issuer, audience, exp, iat, nonce
        if (!"id_token".equals(claims.getStringClaim("token_use"))) throw new SecurityException();
        var session = new Session(); // of the user claims.getIssuer(), claims.getSubject()
        session.keep(tokens);
        var fresh = new State(32).getValue();
        sessions.put(fresh, session);
        redirect(exchange, "/events", fresh);
    }

    static void events(HttpExchange exchange, String id) throws Exception {
        var session = sessions.get(id);
        var token = session.accessToken(null);
        var answer = read(exchange.getRequestURI(), token);
        if (answer.getStatusCode() == 401) answer = read(exchange.getRequestURI(), session.accessToken(token));
        answer(exchange, answer.getStatusCode(), answer.getBody());
    }

    static HTTPResponse read(URI path, AccessToken token) throws Exception {
        var request = new HTTPRequest(HTTPRequest.Method.GET, URI.create(provider.getIssuer() + "/api" + path.getRawPath()));
        request.setAuthorization(token.toAuthorizationHeader());
        return send(request);
    }

    static void redirect(HttpExchange exchange, String location, String id) throws Exception {
        exchange.getResponseHeaders().set("Location", location);
        exchange.getResponseHeaders().set("Set-Cookie", "id=" + id + "; HttpOnly; SameSite=Lax"); // with https: Secure
        answer(exchange, 303, "");
    }

    static void answer(HttpExchange exchange, int status, String body) throws java.io.IOException {
        exchange.sendResponseHeaders(status, 0);
        exchange.getResponseBody().write(body.getBytes("UTF-8"));
        exchange.close();
    }

    static void serve(HttpServer server, String path, Page page) {
        server.createContext(path, exchange -> {
            var cookie = exchange.getRequestHeaders().getFirst("Cookie");
            try {
                page.show(exchange, cookie == null ? "" : cookie.replaceAll(".*\\bid=([\\w-]+).*", "$1"));
            } catch (Exception error) {
                answer(exchange, 400, error.getClass().getSimpleName() + ": start at /connect.");
            }
        });
    }

    public static void main(String... words) throws Exception {
        System.setProperty("sun.net.http.retryPost", "false"); // or HttpURLConnection may send a lost POST again
        provider = OIDCProviderMetadata.resolve(new Issuer(env.get("ISSUER")), 10_000, 10_000);
        validator = new IDTokenValidator(provider.getIssuer(), client, JWSAlgorithm.RS256, provider.getJWKSetURI().toURL());
        validator.setMaxClockSkew(5);
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(env.getOrDefault("PORT", "9099"))), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        serve(server, "/connect", Main::connect);
        serve(server, "/callback", Main::callback);
        serve(server, "/events", Main::events);
        server.start();
        System.out.println("Open " + redirectUri.resolve("/connect"));
    }
}
