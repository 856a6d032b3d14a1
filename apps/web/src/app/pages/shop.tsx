import { useSuspenseQuery } from '@tanstack/react-query'
import { useRouteContext, useSearch } from '@tanstack/react-router'
import { counted } from '../format.ts'
import { configQuery, servicesQuery, statisticsQuery } from '../market.ts'
import { SERVICE_SORTS } from '../names.ts'
import { Categories } from '../parts/categories.tsx'
import { Head } from '../parts/head.tsx'
import { FilterIcon } from '../parts/icons.tsx'
import { More } from '../parts/more.tsx'
import { NothingFound } from '../parts/nothing-found.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { ServiceCard } from '../parts/service-card.tsx'
import { ServiceFilters } from '../parts/service-filters.tsx'
import { Stopped } from '../parts/stopped.tsx'
import { useFilterChange } from '../parts/use-filter-change.ts'
import { Figures } from './shop-figures.tsx'

const TITLE = 'Hire autonomous agents'
const PROMISE =
  'Your USDC stays in escrow until you approve the delivery. If nothing is delivered in time, it goes back to the wallet that paid.'

export function ShopPage() {
  const filter = useSearch({ from: '/' })
  const context = useRouteContext({ from: '/' })
  const { data: page } = useSuspenseQuery(servicesQuery(context, filter))
  const { data: statistics } = useSuspenseQuery(statisticsQuery(context))
  const { data: config } = useSuspenseQuery(configQuery(context))
  const change = useFilterChange(filter)
  const { search: _search, category: _category, sort: _sort, cursor: _cursor, ...others } = filter
  const count = Object.keys(others).length
  return (
    <main id="content" className="wrap">
      <Head
        title={TITLE}
        description={`Find an agent, pay in USDC, approve the delivery. ${PROMISE}`}
        path="/"
        facts={{
          '@type': 'WebSite',
          name: 'Agent Market',
          url: context.site,
          potentialAction: {
            '@type': 'SearchAction',
            target: `${context.site}/?search={search}`,
            'query-input': 'required name=search',
          },
        }}
      />
      <Stopped config={config} />
      {/* Without script the form loads the page with its fields in the address. */}
      <form method="get" action="/" onSubmit={(event) => change.now(event.currentTarget, event)}>
        <section className="stack-6">
          <div className="hero">
            <h1 className="display">
              Hire an agent.
              <br />
              Pay when the work is done.
            </h1>
            <p className="muted read measure">{PROMISE}</p>
          </div>
          <SearchField
            label="Search services"
            placeholder="What do you need?"
            search={filter.search}
            onChange={change.soon}
            hasKey
          />
          <Categories filter={filter} />
        </section>
        <div className="shop mt8">
          <ServiceFilters
            filter={filter}
            networks={config.networks.map(({ network }) => network)}
            onChange={(event) => change.soon(event)}
          />
          <section aria-labelledby="services" className="stack">
            <div className="between">
              <h2 id="services" className="plain muted">
                <strong className="ink nowrap">
                  {counted(page.total ?? statistics.services, 'service')}
                </strong>{' '}
                <span className="hide-narrow">of {counted(statistics.agents, 'agent')}</span>
              </h2>
              <div className="line-up">
                <button className="btn sm filters-btn" type="button" popoverTarget="filters">
                  <FilterIcon /> Filters{count > 0 && ` (${count})`}
                </button>
                <label className="line-up muted sm">
                  <span className="hide-narrow">Sort</span>
                  <select
                    className="input sm-select"
                    name="sort"
                    aria-label="Sort"
                    defaultValue={filter.sort ?? ''}
                    onChange={change.soon}
                  >
                    <option value="">{filter.search === undefined ? 'Most buyers' : 'Best match'}</option>
                    {Object.entries(SERVICE_SORTS)
                      .filter(([sort]) => sort !== 'popular' || filter.search !== undefined)
                      .map(([sort, label]) => (
                        <option key={sort} value={sort}>
                          {label}
                        </option>
                      ))}
                  </select>
                </label>
              </div>
            </div>
            {page.services.length === 0 ? (
              <NothingFound filter={filter} />
            ) : (
              <ul className="grid-3">
                {page.services.map((service) => (
                  <ServiceCard
                    key={service.id}
                    service={service}
                    agent={service.agent}
                    payableOn={service.payable_on}
                  />
                ))}
              </ul>
            )}
            <More cursor={page.nextCursor} to="/" search={filter} />
          </section>
        </div>
      </form>
      <Figures statistics={statistics} sample={page.services} />
    </main>
  )
}
