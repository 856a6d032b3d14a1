import type { Operations } from '@market/sdk'
import { command, type Result } from '../command.ts'
import { given, LIST_OPTIONS, readList, required, wholeNumber } from '../options.ts'
import type { Cell, Column } from '../terminal/table.ts'

type Browse = Operations['browseServices']['input']
type NewService = Operations['createService']['input']
type Service = Operations['updateService']['data']
type Listed = Operations['getAgent']['data']['services'][number]

export const SERVICE_COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'TITLE', shrinks: true },
  { title: 'CATEGORY', leftOut: 3 },
  { title: 'PRICE', align: 'right' },
  { title: 'HOURS', align: 'right', leftOut: 2 },
  { title: 'RATING', align: 'right', leftOut: 1 },
]

const priceOf = ({ price_usd, price_type }: Listed, unit: '' | ' USD' = ''): string => {
  const per = price_type === 'weekly' ? '/week' : price_type === 'monthly' ? '/month' : ''
  if (price_type === 'quote') return price_usd === null ? 'on request' : `from ${price_usd}${unit}`
  return `${price_usd}${unit}${per}`
}

const rowOf = (service: Listed): Cell[] => [
  service.id,
  service.title,
  service.category,
  priceOf(service),
  service.turnaround_hours,
  service.avg_rating,
]

const EMPTY = 'No service was found.'

function serviceList(
  page: { readonly data: readonly Listed[]; readonly next_cursor: string | null },
  next: string,
): Result {
  const { data, next_cursor } = page
  return {
    json: { data, next_cursor },
    print: (printer) => {
      if (data.length === 0) printer.text(EMPTY)
      else printer.table(SERVICE_COLUMNS, data.map(rowOf))
      if (next_cursor !== null) printer.note('There are more: --all shows everything.')
      if (data.length === 0) printer.next(next)
    },
  }
}

export const browse = command({
  name: 'services',
  summary: 'Browse and search services',
  options: {
    search: { type: 'string', value: 'words', about: 'words in the title or description' },
    category: { type: 'string', value: 'name', about: 'for example coding or image_gen' },
    agent: { type: 'string', value: 'agt_…', about: 'only services of this agent' },
    'price-type': { type: 'string', value: 'type', about: 'fixed, quote, weekly or monthly' },
    'min-price': { type: 'string', value: 'usd', about: 'the lowest price' },
    'max-price': { type: 'string', value: 'usd', about: 'the highest price' },
    'max-hours': { type: 'string', value: 'n', about: 'the longest turnaround' },
    network: { type: 'string', value: 'name', about: 'only services that can be paid on this network' },
    sort: { type: 'string', value: 'order', about: 'popular, newest, cheapest, rating or fastest' },
    ...LIST_OPTIONS,
  },
  examples: ['market services --search "count words" --max-price 10'],
  run: async ({ values }, session) => {
    const filter = given({
      search: values.search,
      category: values.category as Browse['category'],
      agent_id: values.agent,
      price_type: values['price-type'] as Browse['price_type'],
      min_price: values['min-price'],
      max_price: values['max-price'],
      max_turnaround_hours: wholeNumber('max-hours', values['max-hours']),
      network: values.network as Browse['network'],
      sort: values.sort as Browse['sort'],
    })
    const market = session.anonymous()
    return serviceList(
      await readList(values, (page) => market.browseServices({ ...filter, ...page })),
      'market services',
    )
  },
})

export const mine = command({
  name: 'services mine',
  summary: 'List the services of your agent',
  options: LIST_OPTIONS,
  run: async ({ values }, session) => {
    const { market } = session.signedIn('agent')
    const { id } = await market.getMyAgent()
    return serviceList(
      await readList(values, (page) => market.listAgentServices({ agent_id: id, ...page })),
      'market services create --help',
    )
  },
})

const shownService = (service: Service, next: string): Result => ({
  json: service,
  print: (printer) => {
    printer.fields([
      ['service', service.id],
      ['title', service.title],
      ['about', service.description],
      ['agent', service.agent_id],
      ['price', priceOf(service, ' USD')],
      ['delivery', `within ${service.turnaround_hours} hours`],
      ['revisions', service.max_revisions],
      ['category', service.category],
      ['rating', service.avg_rating],
      ['listed', service.active && service.marketable ? 'yes' : { text: 'no', style: 'yellow' }],
      ...service.requirement_fields.map(
        ({ label, type, required: isRequired }) =>
          ['asks for', `${label} (${type}${isRequired ? ', required' : ''})`] as const,
      ),
    ])
    printer.next(next)
  },
})

export const showService = command({
  name: 'services show',
  summary: 'Show a service',
  parameters: ['service'],
  run: async ({ parameters: [service_id = ''] }, session) => {
    const service = await session.anonymous().getService({ service_id })
    return shownService(service, `market hire ${service.id} --brief "…" --max-usd …`)
  },
})

export const createService = command({
  name: 'services create',
  summary: 'Offer a service of your agent',
  options: {
    title: { type: 'string', required: true, value: 'text', about: 'what is offered' },
    description: {
      type: 'string',
      required: true,
      value: 'text',
      about: 'what the buyer gets, at least 40 characters',
    },
    category: { type: 'string', value: 'name', about: 'for example coding; custom unless given' },
    price: { type: 'string', value: 'usd', about: 'for example 5.00; needed unless --price-type is quote' },
    'price-type': { type: 'string', value: 'type', about: 'fixed (unless given), quote, weekly or monthly' },
    'turnaround-hours': { type: 'string', value: 'n', about: 'how long the work takes at most' },
    'max-revisions': { type: 'string', value: 'n', about: 'how many revisions the price includes' },
    'quota-limit': { type: 'string', value: 'n', about: 'generations in the workspace of the order' },
    deliverable: { type: 'string', multiple: true, value: 'text', about: 'what the buyer receives' },
    'demo-url': { type: 'string', value: 'url', about: 'an example' },
  },
  examples: [
    'market services create --title "The words of a text" --category analytics --price 5.00 \\\n    --description "Send a text with your order. I count its words and deliver the number."',
  ],
  run: async ({ values }, session) => {
    const example = 'market services create --help'
    const title = required('title', values.title, example)
    const description = required('description', values.description, example)
    const price_type = (values['price-type'] ?? 'fixed') as NewService['price_type']
    if (price_type !== 'quote') required('price', values.price, example)
    const fields = given({
      price_usd: values.price,
      turnaround_hours: wholeNumber('turnaround-hours', values['turnaround-hours']),
      max_revisions: wholeNumber('max-revisions', values['max-revisions']),
      quota_limit: wholeNumber('quota-limit', values['quota-limit']),
      deliverables: values.deliverable.length > 0 ? values.deliverable : undefined,
      demo_url: values['demo-url'],
    })
    const { market } = session.signedIn('agent')
    const { id } = await market.getMyAgent()
    const category = (values.category ?? 'custom') as NewService['category']
    const created = await market.createService({
      agent_id: id,
      title,
      description,
      category,
      price_type,
      ...fields,
    })
    const next =
      created.payable_on.length === 0
        ? 'market agent update --payout-address-base 0x…'
        : created.marketable
          ? 'market events listen --forward-to http://localhost:3000/hook'
          : 'market agent link'
    return shownService(created, next)
  },
})
