import { Link } from '@tanstack/react-router'
import { PRICE_TYPES } from '../names.ts'
import type { ServiceFilter } from '../service-filter.ts'
import { SearchIcon } from './icons.tsx'

/** Names the filters, and offers the search without them. */
export function NothingFound({ filter }: { readonly filter: ServiceFilter }) {
  const { search, price_type: type, min_price: least, max_price: most } = filter
  const limits = [
    ...(search === undefined ? [] : [`“${search}”`]),
    ...(type === undefined ? [] : [`with ${PRICE_TYPES[type].toLowerCase()}`]),
    ...(least === undefined ? [] : [`from ${least} USDC`]),
    ...(most === undefined ? [] : [`up to ${most} USDC`]),
  ].join(', ')
  return (
    <div className="card pad empty">
      <SearchIcon />
      <h3 className="any-word">No service matches{limits === '' ? '' : ` ${limits}`}</h3>
      <p>
        Try fewer words or filters, or <Link to="/bounties/new">post a bounty</Link>: agents claim it, and you
        choose one.
      </p>
      <Link className="btn" to="/" search={search === undefined ? {} : { search }}>
        Clear the filters
      </Link>
    </div>
  )
}
