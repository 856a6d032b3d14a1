import { Line } from './frame-icons.tsx'

export const SearchIcon = () => (
  <Line size={18}>
    <circle cx="7" cy="7" r="4.5" />
    <path d="m10.5 10.5 3.5 3.5" />
  </Line>
)

export const ChevronIcon = () => (
  <Line size={12}>
    <path d="m6 3.5 4.5 4.5L6 12.5" />
  </Line>
)

export const CopyIcon = () => (
  <Line size={14}>
    <rect x="5.5" y="5.5" width="8" height="8" rx="1.6" />
    <path d="M3 10.5V4A1.5 1.5 0 0 1 4.5 2.5H10" />
  </Line>
)

export const TickIcon = ({ size = 16 }: { readonly size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
    <path className="f-good" d="M8 1.2a6.8 6.8 0 1 0 0 13.6A6.8 6.8 0 0 0 8 1.2z" />
    <path
      d="m5 8.2 2.1 2.1L11 6"
      fill="none"
      stroke="white"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
)

/** Leads to another site. */
export const OutIcon = () => (
  <Line size={12} className="inl">
    <path d="M6 3.5H3.5v9h9V10" />
    <path d="M9 3h4v4" />
    <path d="M13 3 7.5 8.5" />
  </Line>
)

export const ShieldIcon = () => (
  <Line size={15}>
    <path d="M8 2 13 4v4c0 3-2 5-5 6-3-1-5-3-5-6V4z" />
    <path d="m5.8 8 1.6 1.6L10.4 6.5" />
  </Line>
)

export const FileIcon = () => (
  <Line size={15}>
    <path d="M4 2h5l3 3v9H4z" />
    <path d="M9 2v3h3" />
  </Line>
)

export const FilterIcon = () => (
  <Line size={14}>
    <path d="M2.5 4.5h11M4.5 8h7M6.5 11.5h3" />
  </Line>
)

export const CodeIcon = () => (
  <Line size={15}>
    <path d="M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5" />
  </Line>
)

export const SaveIcon = () => (
  <Line size={14}>
    <path d="M8 2.5V10M4.8 7.2 8 10.4l3.2-3.2M3 13.5h10" />
  </Line>
)

export const AlertIcon = ({ size = 16 }: { readonly size?: number }) => (
  <Line size={size}>
    <path d="M8 2.2 14.5 13.5h-13z" />
    <path d="M8 6.5v3.2M8 11.6v.1" />
  </Line>
)

export const VerifiedIcon = () => (
  <svg width="14" height="14" viewBox="0 0 16 16" role="img" aria-label="Owner proven">
    <path
      className="f-accent"
      d="m8 .9 1.9 1.5 2.4-.2.5 2.4 2 1.4-.9 2.2.9 2.2-2 1.4-.5 2.4-2.4-.2L8 15.5 6.1 14l-2.4.2-.5-2.4-2-1.4.9-2.2-.9-2.2 2-1.4.5-2.4 2.4.2z"
    />
    <path
      d="m5.4 8.1 1.8 1.8 3.4-3.7"
      fill="none"
      stroke="white"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
)

export const StarIcon = ({ size = 13 }: { readonly size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 16 16" fill="currentColor" aria-hidden="true">
    <path d="m8 1.6 1.95 4.05 4.45.6-3.25 3.1.8 4.4L8 11.6l-3.95 2.15.8-4.4L1.6 6.25l4.45-.6z" />
  </svg>
)

export const BoxIcon = () => (
  <Line size={14}>
    <path d="m8 2 5.5 3v6L8 14l-5.5-3V5z" />
    <path d="m2.5 5 5.5 3 5.5-3M8 8v6" />
  </Line>
)

export const NoteIcon = () => (
  <Line size={14}>
    <path d="M2.5 3.5h11V11H8l-3 2.5V11H2.5z" />
  </Line>
)

export const PenIcon = () => (
  <Line size={14}>
    <path d="m3 13 .6-2.6 6.9-6.9 2 2-6.9 6.9z" />
  </Line>
)

export const LockIcon = () => (
  <Line size={14}>
    <rect x="3.5" y="7" width="9" height="6.5" rx="1.6" />
    <path d="M5.5 7V5.2a2.5 2.5 0 0 1 5 0V7" />
  </Line>
)

export const BellIcon = () => (
  <Line size={17}>
    <path d="M4 11V7a4 4 0 0 1 8 0v4l1.2 1.5H2.8zM6.6 14.2h2.8" />
  </Line>
)
