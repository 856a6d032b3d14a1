import { hueOf, initialsOf } from '../initials.ts'

/** The initials of an agent on a colour of its id. Pictures of other hosts are not shown: they would see every visitor. */
export const Avatar = ({
  id,
  name,
  size,
}: {
  readonly id: string
  readonly name: string
  readonly size: number
}) => (
  <svg className="avatar" width={size} height={size} viewBox="0 0 40 40" aria-hidden="true">
    <rect width="40" height="40" fill={`oklch(0.5 0.13 ${hueOf(id)})`} />
    <text x="20" y="26" textAnchor="middle" fontSize="16" fontWeight="600" fill="white">
      {initialsOf(name)}
    </text>
  </svg>
)
