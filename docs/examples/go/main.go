// .ci/run skips this client on a machine without go; hosted CI runs it.
// A partner's backend in one file: it connects a user with go-oidc and reads her events and designs. Tokens are kept in memory.
// A real backend encrypts them at rest and locks the refresh across its processes, as services/demo-partner does.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

type login struct{ state, nonce, verifier string }
type session struct {
	lock  sync.Mutex
	token *oauth2.Token
}

var issuer, logins, sessions = os.Getenv("ISSUER"), sync.Map{}, sync.Map{}
var refreshBefore = must(time.ParseDuration(cmp.Or(os.Getenv("REFRESH_BEFORE"), "60") + "s"))
var web = &http.Client{Timeout: 10 * time.Second}
var ctx = oidc.ClientContext(context.Background(), web)
var config = oauth2.Config{ClientID: os.Getenv("CLIENT_ID"), ClientSecret: os.Getenv("CLIENT_SECRET"), Scopes: []string{"openid"},
	RedirectURL: cmp.Or(os.Getenv("REDIRECT_URI"), "http://127.0.0.1:9099/callback")}

var verifier = discover()

// discover reads the provider at each start. AuthStyle must be set: x/oauth2 tries two styles otherwise, and sends a token twice.
func discover() *oidc.IDTokenVerifier {
	provider := must(oidc.NewProvider(ctx, issuer))
	config.Endpoint = provider.Endpoint()
	config.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	return provider.Verifier(&oidc.Config{ClientID: config.ClientID, SupportedSigningAlgs: []string{"RS256"}})
}

// once sends a code or refresh token once. Only our 503 says that it was not consumed: then once more, after Retry-After.
func once(send func() (*oauth2.Token, error)) *oauth2.Token {
	token, err := send()
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response.StatusCode == 503 && refused.ErrorCode == "temporarily_unavailable" {
		time.Sleep(must(time.ParseDuration(cmp.Or(refused.Response.Header.Get("Retry-After"), "3") + "s")))
		token, err = send()
	}
	return must(token, err)
}

// accessToken refreshes one at a time. The refresh token leaves the session before it is sent; new tokens are kept before use.
func (s *session) accessToken(refused string) string {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.token.AccessToken == refused || time.Until(s.token.Expiry) <= refreshBefore {
		old := oauth2.Token{RefreshToken: s.token.RefreshToken}
		s.token = &oauth2.Token{}
		s.token = once(config.TokenSource(ctx, &old).Token) // fails without a refresh token
	}
	return s.token.AccessToken
}

func connect(w http.ResponseWriter, r *http.Request, _ string) {
	id, at := rand.Text(), login{rand.Text(), rand.Text(), oauth2.GenerateVerifier()}
	logins.Store(id, at)
	time.AfterFunc(10*time.Minute, func() { logins.Delete(id) })
	redirect(w, r, config.AuthCodeURL(at.state, oidc.Nonce(at.nonce), oauth2.S256ChallengeOption(at.verifier)), id)
}

func callback(w http.ResponseWriter, r *http.Request, id string) {
	found, _ := logins.LoadAndDelete(id) // before anything else: a callback is taken once
	at, query := found.(login), r.URL.Query()
	if query.Get("error") != "" || query.Get("state") != at.state {
		panic("error or another state")
	}
	token := once(func() (*oauth2.Token, error) {
		return config.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(at.verifier))
	})
	idToken := must(verifier.Verify(ctx, token.Extra("id_token").(string))) // RS256, issuer, audience, expiry
	use := map[string]any{}
	must(use, idToken.Claims(&use))
	if use["token_use"] != "id_token" || idToken.Nonce != at.nonce || time.Until(idToken.IssuedAt) > 5*time.Second {
		panic("ID token refused")
	}
	fresh := rand.Text()
	sessions.Store(fresh, &session{token: token}) // of the user idToken.Issuer, idToken.Subject
	redirect(w, r, "/events", fresh)
}

func events(w http.ResponseWriter, r *http.Request, id string) {
	found, _ := sessions.Load(id)
	token := found.(*session).accessToken("")
	answer := read(r.URL.EscapedPath(), token)
	if answer.StatusCode == 401 {
		answer = read(r.URL.EscapedPath(), found.(*session).accessToken(token))
	}
	w.WriteHeader(answer.StatusCode)
	io.Copy(w, answer.Body)
}

func read(path, token string) *http.Response {
	request := must(http.NewRequest("GET", issuer+"/api"+path, nil))
	request.Header.Set("Authorization", "Bearer "+token)
	return must(web.Do(request))
}

func redirect(w http.ResponseWriter, r *http.Request, location, id string) {
	http.SetCookie(w, &http.Cookie{Name: "id", Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}) // with https: Secure
	http.Redirect(w, r, location, http.StatusSeeOther)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func page(show func(http.ResponseWriter, *http.Request, string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				http.Error(w, "Start at /connect.", http.StatusBadRequest)
			}
		}()
		cookie, _ := r.Cookie("id")
		if cookie == nil {
			cookie = &http.Cookie{}
		}
		show(w, r, cookie.Value)
	}
}

func main() {
	http.HandleFunc("GET /connect", page(connect))
	http.HandleFunc("GET /callback", page(callback))
	http.HandleFunc("GET /events", page(events))
	http.HandleFunc("GET /events/", page(events))
	listener, err := net.Listen("tcp", "127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "9099"))
	if err != nil {
		panic(err)
	}
	fmt.Println("Open", strings.Replace(config.RedirectURL, "/callback", "/connect", 1))
	panic(http.Serve(listener, nil))
}
