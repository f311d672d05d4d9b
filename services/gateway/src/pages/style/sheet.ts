// The page: ground, masthead, sheet, text.
export const sheet = `
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0;
  min-height: 100vh;
  min-height: 100svh;
  padding: 0 1rem 2rem;
  display: flex;
  flex-direction: column;
  align-items: center;
  background: var(--ground);
  color: var(--ink);
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
.masthead, .sheet, footer { width: 100%; max-width: 34rem; }
.masthead {
  display: flex;
  align-items: center;
  gap: .625rem;
  padding: 2.5rem .25rem 1.25rem;
  color: var(--accent);
  font-weight: 650;
  letter-spacing: .01em;
}
.mark { flex: none; }
.sheet {
  padding: 2.25rem 2.5rem 2.5rem;
  background: var(--sheet);
  border: 1px solid var(--line);
  border-radius: .75rem;
}
h1 { margin: 0 0 1rem; font-size: 1.75rem; line-height: 1.25; font-weight: 650; letter-spacing: -.012em; text-wrap: balance; }
h2 { margin: 2rem 0 .5rem; font-size: 1.0625rem; line-height: 1.4; font-weight: 650; }
p { margin: 0 0 1rem; }
strong { font-weight: 650; }
a { color: var(--accent); text-underline-offset: .18em; }
a:hover { color: var(--accent-strong); text-decoration-thickness: 2px; }
code { font: .9375em/1.5 ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; user-select: all; }
.hint { color: var(--soft); font-size: .9375rem; }
.note { margin: 1.25rem 0 0; }
.notice { padding: .75rem 1rem; background: var(--tint); border-radius: .5rem; }
.account {
  margin: 0;
  padding: .75rem 1rem;
  background: var(--tint);
  border-radius: .5rem;
}
.account .hint, .account .email { display: block; }
.account .email { color: var(--soft); font-size: .9375rem; }
.who { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; margin: 0 0 1.5rem; padding: 0 0 .25rem; background: var(--tint); border-radius: .5rem; }
.who form { margin: 0; padding: 0 1rem; }
.shared, .never { margin: 0 0 1rem; padding: 0; list-style: none; }
.shared li, .never li { position: relative; padding: .3125rem 0 .3125rem 2rem; }
.shared li::before, .never li::before {
  content: "";
  position: absolute;
  left: .25rem;
  top: .85rem;
}
.shared li::before {
  width: .875rem;
  height: .4375rem;
  border: solid var(--accent);
  border-width: 0 0 2.5px 2.5px;
  transform: rotate(-48deg);
}
.never li::before { top: 1.0625rem; width: .8125rem; border-top: 2.5px solid var(--edge); }
.reference code { display: block; }
.reference { margin: 1.75rem 0 0; padding-top: 1rem; border-top: 1px solid var(--line); }
@media (min-width: 58rem) {
  .wide .masthead, .wide .sheet, .wide footer { max-width: 56rem; }
  .columns { display: grid; grid-template-columns: 1fr 1fr; gap: 3rem; }
  .columns h2 { margin-top: .5rem; }
}
footer { padding: 1rem .25rem 0; }
.links { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: 0; padding: 0; list-style: none; font-size: .9375rem; }
.links a { display: inline-block; padding: .25rem 0; color: var(--soft); }
@media (max-width: 36rem) {
  body { padding: 0 0 1.5rem; background: var(--sheet); }
  .masthead { padding: 1.25rem 1.25rem .5rem; }
  .sheet { padding: 1rem 1.25rem 1.5rem; border: 0; border-radius: 0; }
  footer { padding: 1rem 1.25rem 0; }
  h1 { font-size: 1.5rem; }
}
`;
