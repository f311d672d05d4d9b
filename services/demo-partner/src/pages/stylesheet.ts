// The one stylesheet, served by us: no font, script or picture comes from elsewhere. The accent is the partner's
// own, unlike the operator's, so that people see whose page they are on.
export const stylesheet = `
:root { color-scheme: light dark; --ground:#f3f4f9; --card:#fff; --ink:#1d1f2b; --soft:#575b70; --line:#d5d8e4;
  --accent:#4338a8; --on-accent:#fff; --warn:#7a4a00; --warn-ground:#fff3dc; }
@media (prefers-color-scheme: dark) { :root { --ground:#13141c; --card:#1d1f2a; --ink:#eef0f7; --soft:#abb0c4;
  --line:#383c4e; --accent:#b9b4ff; --on-accent:#17133f; --warn:#ffd591; --warn-ground:#33280f; } }
* { box-sizing: border-box; }
body { margin:0; background:var(--ground); color:var(--ink); font:1rem/1.55 ui-sans-serif,system-ui,"Segoe UI",Roboto,sans-serif; }
.skip { position:absolute; left:-999rem; } .skip:focus { left:1rem; top:.5rem; background:var(--card); padding:.5rem; }
header, main, footer { max-width:46rem; margin:0 auto; padding:0 1.25rem; }
header { display:flex; flex-wrap:wrap; align-items:center; justify-content:space-between; gap:.25rem 1.5rem; padding-block:1.25rem; }
.brand { display:flex; align-items:center; gap:.6rem; font-weight:700; color:var(--ink); text-decoration:none; min-height:2.75rem; }
.brand::before { content:""; width:1.6rem; height:1.1rem; border:.22rem solid var(--accent); border-bottom:0; border-radius:.2rem .2rem 0 0;
  background:linear-gradient(var(--accent),var(--accent)) 0 60%/100% .2rem no-repeat; }
nav { display:flex; gap:1.25rem; } nav a { display:inline-flex; align-items:center; min-height:2.75rem; }
a { color:var(--accent); text-underline-offset:.2em; }
h1 { font-size:clamp(1.5rem,5vw,2.1rem); line-height:1.2; margin:1rem 0 .75rem; text-wrap:balance; overflow-wrap:anywhere; }
h2 { font-size:1.1rem; line-height:1.35; margin:0; overflow-wrap:anywhere; }
p { margin:.6rem 0; max-width:62ch; overflow-wrap:anywhere; } .soft { color:var(--soft); } .small { font-size:.9rem; }
.card { background:var(--card); border:1px solid var(--line); border-radius:.75rem; padding:1.1rem 1.25rem; margin:1rem 0; }
.notice { background:var(--warn-ground); color:var(--warn); border-radius:.75rem; padding:.8rem 1.1rem; margin:1rem 0; }
ul.list { list-style:none; padding:0; margin:1rem 0; display:grid; gap:.75rem; } ul.list .card { margin:0; }
.row { display:flex; flex-wrap:wrap; justify-content:space-between; gap:.1rem 1rem; align-items:baseline; }
.actions { display:flex; flex-wrap:wrap; gap:.75rem; margin:1.1rem 0 .4rem; } form { margin:0; }
.button { display:inline-flex; align-items:center; justify-content:center; min-height:2.75rem; padding:.55rem 1.2rem; border-radius:.5rem;
  border:1px solid var(--accent); background:var(--accent); color:var(--on-accent); font:inherit; font-weight:600; text-decoration:none; cursor:pointer; }
.button.plain { background:transparent; color:var(--accent); }
:focus-visible { outline:3px solid var(--accent); outline-offset:3px; }
code { font-family:ui-monospace,Menlo,monospace; font-size:.9em; overflow-wrap:anywhere; }
footer { color:var(--soft); font-size:.875rem; padding-block:2rem; }
`;
