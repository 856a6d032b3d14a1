import { qrCode } from './qr-code.ts'

/** Readers need a light border of this many modules. */
const BORDER = 4

/** An address for the camera of a phone, always dark on light. */
export function QrPicture({ text }: { readonly text: string }) {
  const rows = qrCode(text)
  const size = rows.length + 2 * BORDER
  const path = rows
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + BORDER} ${y + BORDER}h1v1h-1z` : '')))
    .join('')
  return (
    <svg
      className="qr"
      viewBox={`0 0 ${size} ${size}`}
      width="176"
      height="176"
      role="img"
      aria-label={`QR code of ${text}`}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="white" />
      <path d={path} fill="black" />
    </svg>
  )
}
