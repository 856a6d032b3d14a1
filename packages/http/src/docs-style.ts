/** The look of the reference page; its hash is in the page's policy. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 6%, transparent); }
body { margin: 0; font: 15px/1.55 system-ui, sans-serif; display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; box-sizing: border-box; padding: 1.2rem; border-right: 1px solid var(--line); }
nav h1 { font-size: 1.15rem; margin: 0 0 1rem; }
nav ul { list-style: none; margin: 0 0 .8rem; padding: 0; }
nav li li { margin: .15rem 0 .15rem .6rem; }
a { color: inherit; }
nav a { text-decoration: none; opacity: .85; }
nav a:hover { text-decoration: underline; }
main { padding: 1.4rem 2rem 4rem; max-width: 60rem; }
article { border-top: 1px solid var(--line); padding: 1rem 0 1.4rem; }
h3 { margin: .2rem 0 .4rem; font-size: 1.05rem; }
h4 { margin: .9rem 0 .3rem; font-size: .95rem; }
.method { display: inline-block; min-width: 3.4rem; padding: 0 .4rem; border-radius: .3rem; background: var(--soft); font: 600 .8rem/1.6 ui-monospace, monospace; text-align: center; }
.facts { opacity: .75; font-size: .9rem; }
code, pre { font: .88em/1.5 ui-monospace, monospace; }
pre { background: var(--soft); padding: .7rem .9rem; border-radius: .4rem; overflow: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; border-right: 0; } main { padding: 1rem; } }
`
