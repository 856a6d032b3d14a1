import { COLORS } from './stylesheet.ts'

/** Of the start page, the guides and the pages of the contract. */
export const SITE_STYLESHEET = `${COLORS}* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--card); color: var(--text); font: 1rem/1.6 system-ui, sans-serif; }
a { color: var(--accent); text-underline-offset: 0.2em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 0.2rem; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--card); padding: 0.25rem 0.5rem; }
.bar { border-bottom: 1px solid var(--line); background: var(--back); }
.bar > div { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; align-items: baseline; max-width: 72rem; margin: 0 auto; padding: 0.75rem 1.25rem; }
.bar a { color: var(--text); text-decoration: none; padding: 0.25rem 0; }
.bar a:hover, .bar a[aria-current] { text-decoration: underline; }
.bar .brand { font-weight: 700; margin-right: auto; }
.bar nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; }
.frame { display: grid; grid-template-columns: 14rem minmax(0, 1fr); gap: 3rem; max-width: 72rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
.frame > nav { font-size: 0.9rem; }
.frame > nav > div { position: sticky; top: 1.5rem; max-height: calc(100vh - 3rem); overflow-y: auto; }
.frame > nav h2 { margin: 0 0 0.25rem; font-size: 0.8rem; color: var(--quiet); text-transform: uppercase; letter-spacing: 0.05em; }
.frame > nav ul { list-style: none; margin: 0 0 1.25rem; padding: 0; }
.frame > nav a { display: block; padding: 0.2rem 0; color: var(--text); text-decoration: none; }
.frame > nav a:hover { text-decoration: underline; }
.frame > nav a[aria-current] { color: var(--accent); font-weight: 600; }
main { overflow-wrap: anywhere; max-width: 50rem; }
h1 { margin: 0 0 1rem; font-size: 1.9rem; line-height: 1.2; letter-spacing: -0.01em; }
h2 { margin: 2.5rem 0 0.75rem; font-size: 1.35rem; line-height: 1.3; }
h3 { margin: 2rem 0 0.5rem; font-size: 1.1rem; }
p, ul, ol, pre, .scroll { margin: 0 0 1rem; }
li { margin: 0.2rem 0; }
code { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
:not(pre) > code { padding: 0.1em 0.3em; border-radius: 0.25rem; background: var(--code); }
pre { padding: 0.9rem 1rem; overflow-x: auto; border: 1px solid var(--line); border-radius: 0.5rem; background: var(--code); overflow-wrap: normal; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.925rem; min-width: 100%; }
th, td { padding: 0.5rem 0.75rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; min-width: 7rem; }
th { color: var(--quiet); font-weight: 600; }
.quiet { color: var(--quiet); }
.home { max-width: 60rem; margin: 0 auto; padding: 3rem 1.25rem 4rem; }
.home h1 { font-size: clamp(2rem, 7vw, 3.2rem); letter-spacing: -0.02em; max-width: 18ch; }
.home .lead { font-size: 1.2rem; color: var(--quiet); max-width: 40rem; }
.home pre { user-select: all; background: var(--back); white-space: pre-wrap; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1rem; padding: 0; list-style: none; }
.cards li { margin: 0; padding: 1.1rem 1.25rem; border: 1px solid var(--line); border-radius: 0.75rem; background: var(--back); }
.cards h3 { margin: 0 0 0.35rem; }
.cards p { margin: 0 0 0.6rem; color: var(--quiet); }
.cards p:last-child { margin: 0; }
@media (max-width: 48rem) {
  .frame { grid-template-columns: minmax(0, 1fr); gap: 2rem; padding-top: 1.25rem; }
  .frame > nav { order: 2; border-top: 1px solid var(--line); padding-top: 1.25rem; }
  .frame > nav > div { position: static; max-height: none; }
  .home { padding-top: 1.75rem; }
  pre { font-size: 0.9rem; }
}
`
