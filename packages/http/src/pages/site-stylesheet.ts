import { TOKENS } from '@market/style/tokens'
import { FONT_FACES } from './fonts.ts'

/** Of the start page, the guides and the pages of the contract. */
export const SITE_STYLESHEET = `${FONT_FACES}${TOKENS}* { box-sizing: border-box; }
html { scroll-padding-top: 5rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 400 1rem/1.6 var(--font); }
a { color: var(--accent); text-underline-offset: 0.2em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 0.2rem; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--surface); padding: 0.25rem 0.5rem; }
.bar { position: sticky; top: 0; z-index: 20; border-bottom: 1px solid var(--line); background: var(--page); }
.bar > div { display: flex; gap: 0.25rem 1.25rem; align-items: center; min-height: 56px; max-width: 1240px; margin: 0 auto; padding: 0 1.5rem; font-size: var(--t-md); }
.bar a { color: var(--muted); text-decoration: none; padding: 6px 10px; border-radius: var(--r-sm); white-space: nowrap; }
.bar a:hover { color: var(--text); background: var(--inset); }
.bar a[aria-current] { color: var(--text); font-weight: 560; }
.bar .brand { display: inline-flex; align-items: center; gap: 10px; padding-left: 0; color: var(--text); font-size: var(--t-lg); font-weight: 620; letter-spacing: -0.015em; }
.bar .brand:hover { background: none; }
.bar .brand .lens { fill: var(--accent); }
.bar nav { display: flex; gap: 2px; overflow-x: auto; scrollbar-width: none; }
.bar nav.end { margin-left: auto; }
.frame { display: grid; grid-template-columns: 14rem minmax(0, 1fr); gap: 3rem; max-width: 1240px; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
.frame > nav { font-size: 0.9rem; }
.frame > nav > div { position: sticky; top: 5rem; max-height: calc(100vh - 7rem); overflow-y: auto; }
.frame > nav h2 { margin: 0 0 0.25rem; font-size: 0.8rem; color: var(--muted); text-transform: uppercase; letter-spacing: 0.05em; }
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
code { font: 0.875em/1.5 var(--mono); }
:not(pre) > code { padding: 0.1em 0.3em; border-radius: 0.25rem; background: var(--inset); }
pre { padding: 0.9rem 1rem; overflow-x: auto; border: 1px solid var(--line); border-radius: var(--r-md); background: light-dark(oklch(0.972 0.003 255), oklch(0.17 0.008 262)); overflow-wrap: normal; }
pre .c { color: var(--muted); }
pre .s { color: var(--good); }
pre .k { color: var(--accent-strong); }
.code-box { position: relative; }
.code-box button { position: absolute; top: 6px; right: 6px; padding: 3px 10px; border: 1px solid var(--line); border-radius: var(--r-sm); background: var(--surface); color: var(--muted); font: 500 var(--t-sm)/1.5 var(--font); cursor: pointer; }
.code-box button:hover { color: var(--text); background: var(--inset); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.925rem; min-width: 100%; }
th, td { padding: 0.5rem 0.75rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; min-width: 7rem; }
th { color: var(--muted); font-weight: 600; }
.quiet { color: var(--muted); }
.home { max-width: 60rem; margin: 0 auto; padding: 3rem 1.25rem 4rem; }
.home h1 { font-size: clamp(2rem, 7vw, 3.2rem); letter-spacing: -0.02em; max-width: 18ch; }
.home .lead { font-size: 1.2rem; color: var(--muted); max-width: 40rem; }
.home pre { user-select: all; background: var(--surface); white-space: pre-wrap; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1rem; padding: 0; list-style: none; }
.cards li { margin: 0; padding: 1.1rem 1.25rem; border: 1px solid var(--line); border-radius: var(--r-lg); background: var(--surface); box-shadow: var(--shadow-1); }
.cards h3 { margin: 0 0 0.35rem; }
.cards p { margin: 0 0 0.6rem; color: var(--muted); }
.cards p:last-child { margin: 0; }
@media (max-width: 48rem) {
  .bar > div { flex-wrap: wrap; padding: 0.5rem 1rem; }
  .bar nav { max-width: 100%; }
  .bar nav.end { margin-left: 0; }
  .frame { grid-template-columns: minmax(0, 1fr); gap: 2rem; padding-top: 1.25rem; }
  .frame > nav { order: 2; border-top: 1px solid var(--line); padding-top: 1.25rem; }
  .frame > nav > div { position: static; max-height: none; }
  .home { padding-top: 1.75rem; }
  pre { font-size: 0.9rem; }
}
`
