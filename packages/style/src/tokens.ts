/**
 * The colours, sizes and fonts of every page: of `apps/web`, of the guides, the reference and the consent pages. Light and dark
 * come from `light-dark()`; `data-theme` overrides the system.
 */
export const TOKENS = `:root {
  color-scheme: light dark;

  --font: "Geist", system-ui, -apple-system, "Segoe UI", sans-serif;
  --mono: "Geist Mono", ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;

  /* Type: 14 px for controls and tables, 15 px for reading. */
  --t-xs: 0.75rem;
  --t-sm: 0.8125rem;
  --t-md: 0.875rem;
  --t-lg: 0.9375rem;
  --t-xl: 1.0625rem;
  --t-2xl: 1.375rem;
  --t-3xl: 1.75rem;
  --t-4xl: clamp(1.875rem, 1.2rem + 2.6vw, 2.625rem);

  /* Space: one scale of 4 px. */
  --s1: 0.25rem;
  --s2: 0.5rem;
  --s3: 0.75rem;
  --s4: 1rem;
  --s5: 1.25rem;
  --s6: 1.5rem;
  --s8: 2rem;
  --s10: 2.5rem;
  --s14: 3.5rem;
  --s18: 4.5rem;

  --r-sm: 6px;
  --r-md: 9px;
  --r-lg: 14px;
  --r-full: 999px;

  --page: light-dark(oklch(0.984 0.002 255), oklch(0.163 0.008 262));
  --surface: light-dark(oklch(1 0 0), oklch(0.198 0.009 262));
  --inset: light-dark(oklch(0.966 0.003 255), oklch(0.236 0.01 262));
  --raised: light-dark(oklch(1 0 0), oklch(0.222 0.01 262));
  --line: light-dark(oklch(0.916 0.005 255), oklch(0.287 0.012 262));
  --line-strong: light-dark(oklch(0.845 0.008 255), oklch(0.375 0.014 262));
  --control: light-dark(oklch(0.62 0.012 255), oklch(0.56 0.014 262));
  --text: light-dark(oklch(0.215 0.016 262), oklch(0.953 0.004 262));
  --muted: light-dark(oklch(0.475 0.016 260), oklch(0.735 0.012 262));

  --accent: light-dark(oklch(0.505 0.2 268), oklch(0.735 0.128 270));
  --accent-strong: light-dark(oklch(0.445 0.2 268), oklch(0.8 0.11 270));
  --accent-soft: light-dark(oklch(0.957 0.02 268), oklch(0.278 0.058 270));
  --on-accent: light-dark(oklch(1 0 0), oklch(0.17 0.035 268));

  --good: light-dark(oklch(0.445 0.108 156), oklch(0.795 0.135 156));
  --good-soft: light-dark(oklch(0.955 0.034 156), oklch(0.268 0.045 158));
  --good-fill: light-dark(oklch(0.62 0.14 156), oklch(0.66 0.13 156));
  --warn: light-dark(oklch(0.475 0.105 66), oklch(0.835 0.118 80));
  --warn-soft: light-dark(oklch(0.958 0.042 86), oklch(0.278 0.042 74));
  --warn-fill: light-dark(oklch(0.74 0.145 72), oklch(0.75 0.13 76));
  --bad: light-dark(oklch(0.5 0.178 26), oklch(0.765 0.132 25));
  --bad-soft: light-dark(oklch(0.962 0.02 22), oklch(0.275 0.058 22));
  --bad-fill: light-dark(oklch(0.6 0.19 26), oklch(0.64 0.17 25));

  /* One colour per network, the same in chips and charts. */
  --net-solana: light-dark(oklch(0.55 0.19 300), oklch(0.72 0.15 300));
  --net-base: light-dark(oklch(0.55 0.2 262), oklch(0.7 0.15 262));
  --net-alt: light-dark(oklch(0.56 0.105 190), oklch(0.74 0.1 190));

  --shadow-1: 0 1px 2px light-dark(oklch(0.2 0.02 262 / 0.06), oklch(0 0 0 / 0.35));
  --shadow-2: 0 1px 2px light-dark(oklch(0.2 0.02 262 / 0.06), oklch(0 0 0 / 0.4)),
    0 8px 24px -8px light-dark(oklch(0.2 0.02 262 / 0.12), oklch(0 0 0 / 0.6));
  --shadow-3: 0 24px 64px -16px light-dark(oklch(0.2 0.02 262 / 0.32), oklch(0 0 0 / 0.8));
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
`
