/** The tokens of our pages for Scalar, which are on its page. Each colour has a contrast of at least 4.5 to 1 with what is behind it. */
export const SCALAR_STYLE = `
:root {
  --scalar-font: var(--font);
  --scalar-font-code: var(--mono);
  --scalar-radius: var(--r-sm);
  --scalar-radius-lg: var(--r-md);
}
.light-mode { color-scheme: light; }
.dark-mode { color-scheme: dark; }
.light-mode, .dark-mode {
  --scalar-color-1: var(--text);
  --scalar-color-2: var(--muted);
  --scalar-color-3: var(--muted);
  --scalar-color-accent: var(--accent);
  --scalar-background-1: var(--page);
  --scalar-background-2: var(--surface);
  --scalar-background-3: var(--inset);
  --scalar-background-accent: var(--accent-soft);
  --scalar-border-color: var(--line);
  --scalar-color-green: var(--good);
  --scalar-color-red: var(--bad);
  --scalar-color-yellow: var(--warn);
  --scalar-color-blue: var(--accent);
  --scalar-color-orange: var(--warn);
  --scalar-color-purple: light-dark(#6a35b8, #c9a8ff);
  --scalar-color-alert: var(--warn);
  --scalar-color-danger: var(--bad);
}
/* Wrapped, because a region that scrolls cannot be reached by keyboard. */
.markdown pre code, .markdown pre code * { white-space: pre-wrap !important; overflow-wrap: anywhere !important; }
.markdown pre code { overflow: visible !important; max-height: none !important; }
.scalar-card-content:has(> .endpoints) { overflow: hidden !important; max-height: none !important; }
.endpoints { overflow: visible !important; max-height: none !important; }
.endpoint-path { overflow-wrap: anywhere; white-space: normal; }
/* The name of the button is hidden until the pointer is over it. */
.scalar-code-copy .sr-only > .hidden { display: inline !important; }
/* The target of a link, not a control. */
.section:focus-visible { outline: none !important; }
`
