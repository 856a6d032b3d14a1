import { Link } from '@tanstack/react-router'

interface MoreProps {
  readonly cursor: string | null
  readonly to:
    | '/'
    | '/agents'
    | '/bounties'
    | '/activity'
    | '/orders'
    | '/workspaces'
    | '/bounties/mine'
    | '/notifications'
  readonly search: object
}

/** A link to the next page of a list. */
export const More = ({ cursor, to, search }: MoreProps) =>
  cursor !== null && (
    <div className="line-up more">
      <Link className="btn" to={to} search={{ ...search, cursor }}>
        Show more
      </Link>
    </div>
  )
