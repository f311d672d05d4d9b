// Fields, buttons and what is said when something is wrong. Every target is at least 44 px high.
export const controls = `
form { margin: 1.5rem 0 0; }
.field { margin: 0 0 1.25rem; }
label { display: block; font-weight: 600; }
.field label { margin-bottom: .375rem; }
input[type="email"], input[type="password"] {
  display: block;
  width: 100%;
  min-height: 3rem;
  padding: .5rem .75rem;
  font: inherit;
  color: inherit;
  background: var(--sheet);
  border: 1.5px solid var(--edge);
  border-radius: .5rem;
}
input[aria-invalid="true"] { border-color: var(--alert); border-width: 2px; }
.choice { display: flex; align-items: flex-start; gap: .75rem; margin: 0 0 1.5rem; }
.choice input { flex: none; width: 1.5rem; height: 1.5rem; margin: .125rem 0 0; accent-color: var(--accent); }
.choice label { font-weight: 400; }
.choice .hint { display: block; }
.aside { margin: -.5rem 0 1.25rem; font-size: .9375rem; }
.aside a { display: inline-block; padding: .25rem 0; }
button, a.secondary {
  display: block;
  width: 100%;
  min-height: 3rem;
  padding: .625rem 1.25rem;
  font: inherit;
  font-weight: 600;
  text-align: center;
  text-decoration: none;
  border: 1.5px solid transparent;
  border-radius: .5rem;
  cursor: pointer;
}
.primary { color: var(--on-accent); background: var(--accent); }
.primary:hover { background: var(--accent-strong); }
.secondary, a.secondary { color: var(--accent); background: transparent; border-color: var(--accent); }
.secondary:hover { color: var(--accent-strong); background: var(--tint); }
button + button { margin-top: .75rem; }
.quiet, .link { color: var(--soft); background: transparent; font-weight: 400; text-decoration: underline; text-underline-offset: .18em; }
.quiet:hover, .link:hover { color: var(--ink); }
.link { width: auto; min-height: 2.75rem; padding: .25rem 0; color: var(--accent); text-align: start; }
.cancel { margin-top: .5rem; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.problem {
  margin: 0 0 1.5rem;
  padding: 1rem 1.25rem;
  background: var(--alert-tint);
  border: 1px solid var(--alert);
  border-inline-start-width: 5px;
  border-radius: .5rem;
}
.problem h2 { margin: 0 0 .25rem; color: var(--alert); }
.problem ul { margin: 0; padding: 0; list-style: none; }
.problem a { color: var(--alert); }
.error { margin: 0 0 .375rem; color: var(--alert); font-size: .9375rem; font-weight: 600; }
.decision { margin-top: 2rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
@media (min-width: 36.01rem) {
  .decision { display: flex; gap: .75rem; }
  .decision button { margin: 0; }
}
@media (forced-colors: active) {
  .sheet, .problem, .account, .notice { border: 1px solid; }
}
`;
