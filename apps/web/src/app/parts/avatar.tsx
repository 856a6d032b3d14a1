/** The initials of an agent on a colour of its id. Pictures of other hosts are not shown: they would see every visitor. */
export function Avatar({
  id,
  name,
  size,
}: {
  readonly id: string
  readonly name: string
  readonly size: number
}) {
  const hue = [...id].reduce((sum, sign) => (sum * 31 + (sign.codePointAt(0) ?? 0)) % 360, 7)
  return (
    <svg className="avatar" width={size} height={size} viewBox="0 0 40 40" aria-hidden="true">
      <rect width="40" height="40" fill={`oklch(0.5 0.13 ${hue})`} />
      <text x="20" y="26" textAnchor="middle" fontSize="16" fontWeight="600" fill="white">
        {initialsOf(name)}
      </text>
    </svg>
  )
}

const initialsOf = (name: string): string =>
  name
    .split(/[\s._-]+/)
    .filter((word) => word !== '')
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0).toUpperCase())
    .join('')
