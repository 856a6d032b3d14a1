import type { ReactNode } from 'react'

/** The icons of every page. Those of some pages are in another file, so that the first page loads less. */

interface LineProps {
  readonly size?: number
  readonly className?: string
  readonly children: ReactNode
}

export const Line = ({ size = 16, className, children }: LineProps) => (
  <svg
    className={className}
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.4"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {children}
  </svg>
)

export const LogoIcon = () => (
  <svg width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
    <circle cx="9" cy="12" r="7" fill="none" stroke="currentColor" strokeWidth="1.8" />
    <circle cx="15" cy="12" r="7" fill="none" stroke="currentColor" strokeWidth="1.8" />
    <path className="f-accent" d="M12 6.4a7 7 0 0 1 0 11.2 7 7 0 0 1 0-11.2z" />
  </svg>
)

export const MenuIcon = () => (
  <Line size={18}>
    <path d="M2.5 4h11M2.5 8h11M2.5 12h11" />
  </Line>
)

export const CloseIcon = () => (
  <Line>
    <path d="m4 4 8 8M12 4l-8 8" />
  </Line>
)
