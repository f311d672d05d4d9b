// Colours and measures. One accent; text and accent reach AA on their grounds in both modes.
export const palette = `
:root {
  color-scheme: light dark;
  --ground: #f3f1ec;
  --sheet: #fffefb;
  --ink: #1d2421;
  --soft: #56605b;
  --line: #d9d5cb;
  --edge: #868d85;
  --accent: #1f5b46;
  --accent-strong: #164534;
  --on-accent: #ffffff;
  --tint: #eaf1ec;
  --alert: #9c2a1c;
  --alert-tint: #fbeeeb;
  --focus: #1257b8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121715;
    --sheet: #1a211e;
    --ink: #e8ece8;
    --soft: #a9b4ad;
    --line: #323c37;
    --edge: #7d8983;
    --accent: #8fd3b4;
    --accent-strong: #aee3ca;
    --on-accent: #0c1d16;
    --tint: #202d27;
    --alert: #ffb3a6;
    --alert-tint: #35201d;
    --focus: #9cc4ff;
  }
}
`;
