import { Link } from '@tanstack/react-router'
import { BellIcon } from '../parts/icons.tsx'

const MOST = 99

/** Leads to the notifications, with the number of those that are not read. */
export const UnreadLink = ({ count }: { readonly count: number }) => (
  <Link className="icon-btn bell" to="/notifications" title="Notifications">
    <BellIcon />
    <span className="visually-hidden">Notifications </span>
    {count > 0 && (
      <>
        <span className="count hot">{count > MOST ? `${MOST}+` : count}</span>
        <span className="visually-hidden"> unread</span>
      </>
    )}
  </Link>
)
