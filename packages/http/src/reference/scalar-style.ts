/** The colours of our pages for Scalar. Each has a contrast of at least 4.5 to 1 with what is behind it. */
export const SCALAR_STYLE = `
:root {
  --scalar-font: system-ui, sans-serif;
  --scalar-font-code: ui-monospace, 'SFMono-Regular', Menlo, Consolas, monospace;
  --scalar-radius: 0.375rem;
  --scalar-radius-lg: 0.5rem;
}
.light-mode {
  color-scheme: light;
  --scalar-color-1: #1c2024;
  --scalar-color-2: #47535f;
  --scalar-color-3: #56626e;
  --scalar-color-accent: #0b5bd3;
  --scalar-background-1: #ffffff;
  --scalar-background-2: #f4f5f7;
  --scalar-background-3: #e8ebee;
  --scalar-background-accent: #e7f0fd;
  --scalar-border-color: #cfd6dc;
  --scalar-color-green: #12653a;
  --scalar-color-red: #b3201f;
  --scalar-color-yellow: #7a4d00;
  --scalar-color-blue: #0b5bd3;
  --scalar-color-orange: #994000;
  --scalar-color-purple: #6a35b8;
  --scalar-color-alert: #7a4d00;
  --scalar-color-danger: #b3201f;
}
.dark-mode {
  color-scheme: dark;
  --scalar-color-1: #eceef0;
  --scalar-color-2: #b9c2cb;
  --scalar-color-3: #a8b3bd;
  --scalar-color-accent: #7db2ff;
  --scalar-background-1: #111417;
  --scalar-background-2: #1a1e22;
  --scalar-background-3: #272d33;
  --scalar-background-accent: #16263d;
  --scalar-border-color: #3a4249;
  --scalar-color-green: #6fd6a0;
  --scalar-color-red: #ff9a94;
  --scalar-color-yellow: #f0c674;
  --scalar-color-blue: #7db2ff;
  --scalar-color-orange: #ffb37a;
  --scalar-color-purple: #c9a8ff;
  --scalar-color-alert: #f0c674;
  --scalar-color-danger: #ff9a94;
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
