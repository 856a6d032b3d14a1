import { Client } from '@market/sdk/client'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import {
  createMemoryHistory,
  createRootRouteWithContext,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import type { Assets } from '../../page.ts'
import { configQuery, type PageContext, serviceQuery, solvencyQuery } from '../market.ts'
import { CATEGORIES, NETWORKS, type NetworkName, ORDER_STATUSES } from '../names.ts'
import { OrderView } from '../order/order-view.tsx'
import { QuestionCard } from '../order/question-card.tsx'
import { OrderList } from '../pages/orders.tsx'
import { ActivityFeed } from '../parts/activity-feed.tsx'
import { Avatar } from '../parts/avatar.tsx'
import { Categories } from '../parts/categories.tsx'
import { CheckMoney, CheckState } from '../parts/check-money.tsx'
import { Code, CopyButton } from '../parts/code.tsx'
import { Delivered } from '../parts/delivered.tsx'
import { Frame } from '../parts/frame.tsx'
import { CloseIcon, LogoIcon, MenuIcon } from '../parts/frame-icons.tsx'
import { HireCode } from '../parts/hire-code.tsx'
import * as icons from '../parts/icons.tsx'
import { More } from '../parts/more.tsx'
import { NetworkReserves } from '../parts/network-reserves.tsx'
import { Network, NetworkTags, OnChain } from '../parts/networks.tsx'
import { NothingFound } from '../parts/nothing-found.tsx'
import { Ago, NowProvider } from '../parts/now.tsx'
import { OrderMoney } from '../parts/order-money.tsx'
import { OrderProblem, OrderSteps } from '../parts/order-steps.tsx'
import { Requirements } from '../parts/requirements.tsx'
import { ReserveChart } from '../parts/reserve-chart.tsx'
import { Reviews, StarSummary } from '../parts/reviews.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Price, ServiceCard } from '../parts/service-card.tsx'
import { ServiceFilters } from '../parts/service-filters.tsx'
import { Rating, Stars } from '../parts/stars.tsx'
import { Stopped } from '../parts/stopped.tsx'
import { Work } from '../parts/work.tsx'
import { AccountLooks, ReceiptLooks } from './account-looks.tsx'
import { LISTED_ORDERS, MESSAGES, ORDER_PAGES } from './order-samples.ts'
import * as samples from './samples.ts'
import { Bounties, Workspaces } from './workspace-looks.tsx'
import { SUBSCRIPTION } from './workspace-samples.ts'

/**
 * Draws every part of the pages in every state, so that a change of styles is seen at once. Only the development server
 * serves it, at `/looks`: nothing of a build imports this file.
 */

const nothing = () => undefined
const names = Object.keys(NETWORKS) as NetworkName[]

const Story = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section className="stack" aria-label={title}>
    <h2 className="display">{title}</h2>
    {children}
  </section>
)

const Controls = () => (
  <Story title="Controls">
    {['', 'sm', 'lg'].map((size) => (
      <div className="line-up wrap-ok" key={size}>
        {['primary', '', 'danger', 'quiet'].map((style) => (
          <button className={`btn ${style} ${size}`} type="button" key={style}>
            {style || 'plain'} {size}
          </button>
        ))}
        <button className={`btn ${size}`} type="button" disabled>
          disabled {size}
        </button>
      </div>
    ))}
    <button className="btn block" type="button">
      As wide as its place
    </button>
    <div className="line-up wrap-ok">
      {Object.entries({ ...icons, LogoIcon, MenuIcon, CloseIcon }).map(([name, Icon]) => (
        <span key={name}>
          <Icon />
        </span>
      ))}
    </div>
    <div className="line-up wrap-ok">
      {[22, 30, 40, 84].map((size, n) => (
        <Avatar key={size} id={`agt_${n}`} name={samples.AGENT.name} size={size} />
      ))}
    </div>
    <SearchField label="Empty search" placeholder="What do you need?" search={undefined} hasKey />
    <SearchField label="Filled search" placeholder="" search="logo" />
    <textarea className="input" aria-label="Text" defaultValue="Text of several lines" />
    <Categories filter={{ category: 'custom' }} />
  </Story>
)

const Badges = () => (
  <Story title="Badges, networks and amounts">
    <div className="line-up wrap-ok">
      {Object.values(ORDER_STATUSES).map(({ label, style }) => (
        <span className={`badge ${style}`} key={label}>
          <i className="dot" />
          {label}
        </span>
      ))}
      {Object.values(CATEGORIES).map((label) => (
        <span className="badge" key={label}>
          {label}
        </span>
      ))}
    </div>
    <div className="line-up wrap-ok">
      {names.map((name) => (
        <Network key={name} name={name} />
      ))}
      <NetworkTags names={names} />
      {names.map((name) => (
        <OnChain key={name} network={name} kind="address" text={samples.ADDRESS} />
      ))}
      <OnChain network="base-mainnet" kind="transaction" text={samples.HASH} />
    </div>
    <div className="line-up wrap-ok">
      {samples.SERVICES.map((service) => (
        <Price key={service.id} service={service} className="figure" />
      ))}
    </div>
    <div className="line-up wrap-ok">
      {[1, 2, 3, 4, 5].map((rating) => (
        <Stars key={rating} rating={rating} />
      ))}
      <Rating average={4.8} count={1_284} />
      <Rating average={null} count={0} />
      {[0.1, 5, 90, 3_000, 90_000].map((minutes) => (
        <Ago key={minutes} at={new Date(samples.NOW - minutes * 60_000).toISOString()} />
      ))}
    </div>
  </Story>
)

const Shop = () => (
  <Story title="Shop">
    <Stopped config={{ ...samples.CONFIG, stopped: { writes: true, intake: true, payouts: [] } }} />
    <Stopped config={{ ...samples.CONFIG, stopped: { writes: false, intake: true, payouts: [] } }} />
    <ul className="grid-3">
      {samples.SERVICES.map((service) => (
        <ServiceCard
          key={service.id}
          service={service}
          agent={service.agent}
          payableOn={service.payable_on}
        />
      ))}
    </ul>
    <More cursor="next" to="/" search={{}} />
    <NothingFound filter={{}} />
    <NothingFound filter={{ search: samples.LONG.slice(0, 100), price_type: 'fixed', min_price: '1' }} />
    <button className="btn filters-btn" type="button" popoverTarget="filters">
      Filters
    </button>
    <form className="shop">
      <ServiceFilters
        filter={{ price_type: 'quote', network: 'alt-mainnet', min_price: '1', max_turnaround_hours: 24 }}
        networks={names}
        onChange={nothing}
      />
    </form>
    <div className="card">
      <ActivityFeed items={samples.ACTIVITY} />
    </div>
    <div className="card">
      <ActivityFeed items={[]} />
    </div>
  </Story>
)

const Service = () => (
  <Story title="Service and agent">
    <div className="card hire">
      <HireCode service={samples.FIXED} fees={samples.CONFIG.fees} />
    </div>
    <div className="card hire">
      <HireCode service={{ ...samples.FIXED, price_type: 'quote' }} fees={samples.CONFIG.fees} />
    </div>
    <Code language="typescript" text={"const paid = await market.hire({ service: 'svc_1' }) // waits"} />
    <div className="code-box">
      <pre className="code">Copied a moment ago</pre>
      <CopyButton isCopied />
    </div>
    <Requirements fields={samples.FIXED.requirement_fields} />
    <Work entries={samples.WORK} />
    <div className="card rev">
      <StarSummary average={4.8} stars={samples.STARS} />
      <Reviews reviews={samples.REVIEWS} />
    </div>
  </Story>
)

const Orders = () => (
  <Story title="Orders">
    {samples.PURCHASES.map(([state, page]) => (
      <article className="stack" key={state}>
        <h3>{state}</h3>
        <OrderSteps order={page.order} />
        <OrderProblem page={page} />
        <OrderMoney page={page} />
      </article>
    ))}
    <Delivered page={samples.PURCHASE} />
    <Delivered
      page={{ ...samples.PURCHASE, order: { ...samples.PURCHASE.order, closed_at: samples.HASH } }}
    />
    <Delivered page={samples.DELIVERIES} />
  </Story>
)

const done = async () => undefined

const OwnOrders = () => (
  <Story title="Every state of an order">
    <ul className="grid-3">
      {ORDER_PAGES.map(([name, page]) => (
        <li className="stack-2" key={name}>
          <code>{name}</code>
          <QuestionCard page={page} isSigned={false} onRun={done} onPay={nothing} />
        </li>
      ))}
    </ul>
    {ORDER_PAGES.filter(([name]) => name === 'delivered, buyer').map(([name, page]) => (
      <OrderView
        key={name}
        page={page}
        messages={MESSAGES}
        isSigned={false}
        onRun={done}
        onSend={done}
        onPay={nothing}
      />
    ))}
    {ORDER_PAGES.filter(([name]) => name.endsWith(', buyer')).map(([name, page]) => (
      <OrderMoney key={name} page={page} />
    ))}
    <OrderList orders={LISTED_ORDERS} isFiltered={false} />
    <OrderList orders={[]} isFiltered />
    <OrderList orders={[]} isFiltered={false} />
  </Story>
)

const Solvency = () => (
  <Story title="Solvency">
    <div className="card pad">
      <ReserveChart points={samples.POINTS} />
    </div>
    <div className="grid-nets">
      {samples.RESERVES.map((reserves) => (
        <NetworkReserves key={reserves.network} reserves={reserves} />
      ))}
    </div>
    <CheckMoney networks={samples.RESERVES} anchors={[]} solanaNode={undefined} />
    <CheckState state={{ kind: 'running' }} />
    <CheckState state={{ kind: 'problem', text: samples.LONG }} />
    <CheckState state={{ kind: 'checked', results: samples.CHECKS }} />
  </Story>
)

const root = createRootRouteWithContext<PageContext>()({
  component: () => (
    <Frame>
      <main id="content" className="wrap stack-8">
        <h1 className="title">Every part in every state</h1>
        <Controls />
        <Badges />
        <Shop />
        <Service />
        <Orders />
        <OwnOrders />
        <Story title="Every state of a workspace">
          <Workspaces />
        </Story>
        <Story title="Every state of a bounty">
          <Bounties />
        </Story>
        <Story title="Account">
          <AccountLooks />
        </Story>
        <Story title="Receipts">
          <ReceiptLooks />
        </Story>
        <Solvency />
      </main>
    </Frame>
  ),
})

/** The story page, drawn once: nothing on it reads the API. */
export async function renderLooks({ styles, modules }: Assets): Promise<string> {
  const queryClient = new QueryClient()
  const market = new Client({ apiUrl: 'http://127.0.0.1:1' })
  const context = { market, queryClient, site: 'https://market.example', solanaNode: undefined, operator: {} }
  queryClient.setQueryData(configQuery(context).queryKey, samples.CONFIG)
  const { agent, id } = SUBSCRIPTION
  queryClient.setQueryData(serviceQuery(context, agent.slug, id).queryKey, SUBSCRIPTION)
  queryClient.setQueryData(solvencyQuery(context).queryKey, [...samples.RESERVES])
  const history = createMemoryHistory({ initialEntries: ['/'] })
  const router = createRouter({ routeTree: root, context, history })
  await router.load()
  return `<!doctype html>${renderToString(
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Looks</title>
        {styles.map((style) => (
          <link key={style} rel="stylesheet" href={style} />
        ))}
      </head>
      <body>
        <NowProvider drawnAt={samples.NOW}>
          <QueryClientProvider client={queryClient}>
            <RouterProvider router={router as never} />
          </QueryClientProvider>
        </NowProvider>
        {modules.map((module) => (
          <script key={module} type="module" src={module} />
        ))}
      </body>
    </html>,
  )}`
}
