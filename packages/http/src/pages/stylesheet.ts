import { TOKENS } from '@market/style/tokens'
import { FONT_FACES } from './fonts.ts'

export const STYLESHEET = `${FONT_FACES}${TOKENS}* { box-sizing: border-box; }
body {
  margin: 0;
  padding: 1rem;
  background: var(--page);
  color: var(--text);
  font: 400 1rem/1.5 var(--font);
}
header, main { max-width: 36rem; margin: 0 auto; }
header p { margin: 0 0 0.5rem; color: var(--muted); font-weight: 600; }
main {
  padding: 1.25rem;
  background: var(--surface);
  border: 1px solid var(--line);
  border-radius: 0.75rem;
  overflow-wrap: anywhere;
}
h1 { margin: 0 0 0.75rem; font-size: 1.4rem; line-height: 1.25; }
h2 { margin: 0; font-size: 1.1rem; }
a { color: var(--accent); }
ul { padding-left: 1.25rem; }
fieldset { margin: 1rem 0; padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 0.5rem; }
legend { padding: 0 0.25rem; font-weight: 600; }
label { display: flex; gap: 0.5rem; align-items: baseline; padding: 0.4rem 0; }
dl { margin: 0.5rem 0; display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; }
dt { color: var(--muted); }
dd { margin: 0; }
section { margin-top: 1rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.quiet { color: var(--muted); }
.warning { color: var(--warn); font-weight: 600; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.75rem; }
button {
  min-height: 2.75rem;
  padding: 0.5rem 1.25rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: transparent;
  color: var(--text);
  font: inherit;
  cursor: pointer;
}
button.primary { border-color: var(--accent); background: var(--accent); color: var(--on-accent); font-weight: 600; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 30rem) {
  .buttons button { flex: 1 1 100%; }
  dl { grid-template-columns: 1fr; }
}
`
