import { Link } from '@tanstack/react-router'
import { CATEGORIES, type Category } from '../names.ts'
import type { ServiceFilter } from '../service-filter.ts'

/** The others are behind a button, on wide screens. */
const FIRST = 8

/** The categories as links that keep the other filters. */
export function Categories({ filter: { cursor: _, ...filter } }: { readonly filter: ServiceFilter }) {
  const { category: current, ...others } = filter
  const all = Object.entries(CATEGORIES) as [Category, string][]
  const isLater = (category: Category) => all.findIndex(([one]) => one === category) >= FIRST
  return (
    <nav className="chips scroll-chips" aria-label="Category">
      {current !== undefined && <input type="hidden" name="category" value={current} />}
      <Link
        className="chip"
        to="/"
        search={others}
        resetScroll={false}
        aria-current={current === undefined ? 'true' : undefined}
      >
        All
      </Link>
      {all.map(([category, label]) => (
        <Link
          key={category}
          className={isLater(category) && category !== current ? 'chip later' : 'chip'}
          to="/"
          search={{ ...others, category }}
          resetScroll={false}
          aria-current={category === current ? 'true' : undefined}
        >
          {label}
        </Link>
      ))}
      <label className="chip more-chips">
        <input type="checkbox" className="visually-hidden" />
        {all.length - FIRST} more
      </label>
    </nav>
  )
}
