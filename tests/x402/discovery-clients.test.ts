import {
  checkEndpointSchema,
  checkL2ForOpenAPI,
  checkL4ForOpenAPI,
  discoverOriginSchema,
  getOpenAPI,
  getWarningsForFavicon,
  getWarningsForL2,
  getWarningsForL4,
  getWarningsForOpenAPI,
  isOpenApiParseFailure,
  validatePaymentRequiredDetailed,
} from '@agentcash/discovery'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { validateDiscoveryExtension, withBazaar } from '@x402/extensions/bazaar'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeOwnedAgent } from '../support/makers.ts'
import { makeService } from '../support/services.ts'
import { CAIP2, startCatalogWorld } from './catalog-world.ts'

type World = Awaited<ReturnType<typeof startCatalogWorld>>

let world: World
let services: { id: string }[]
beforeAll(async () => {
  world = await startCatalogWorld()
  const seller = await makeOwnedAgent(world.market)
  services = []
  for (const title of ['A logo for your bakery', 'A review of one pull request', 'A song for your dog'])
    services.push(await makeService(world.market, seller, { title }))
})
afterAll(() => world.stop())

const urls = () => services.map(({ id }) => `${world.server.url}/api/x402/discover/${id}`).toSorted()

test('the unmodified Bazaar client lists and searches the directory', async () => {
  const facilitator = new HTTPFacilitatorClient({ url: `${world.server.url}/api/x402` })
  const { bazaar } = withBazaar(facilitator).extensions
  const listed = await bazaar.listResources({ type: 'http', network: CAIP2['base-mainnet'], limit: 100 })
  expect(listed.items.map(({ resource }) => resource).toSorted()).toEqual(urls())
  expect(listed.pagination).toEqual({ limit: 100, offset: 0, total: 3 })
  const paged = await bazaar.listResources({ limit: 2, offset: 2 })
  expect(paged.items).toHaveLength(1)
  const { resources } = await bazaar.search({ query: 'logo' })
  expect(resources.map(({ serviceName }) => serviceName)).toEqual(['A logo for your bakery'])
})

test('every item’s declaration is valid for the Bazaar extension', async () => {
  const facilitator = new HTTPFacilitatorClient({ url: `${world.server.url}/api/x402` })
  const { items } = await withBazaar(facilitator).extensions.bazaar.listResources()
  for (const { extensions } of items) {
    const declared = extensions?.['bazaar'] as Parameters<typeof validateDiscoveryExtension>[0]
    expect(validateDiscoveryExtension(declared)).toEqual({ valid: true })
  }
})

test('the unmodified discovery client finds every service and its price without warnings', async () => {
  const origin = await discoverOriginSchema({ target: world.server.url })
  if (!origin.found) throw new Error('nothing was found')
  expect(origin.endpoints.map(({ path }) => `${world.server.url}${path}`).toSorted()).toEqual(urls())
  for (const endpoint of origin.endpoints)
    expect(endpoint).toMatchObject({
      method: 'GET',
      authMode: 'paid',
      price: '13.75 USD',
      protocols: ['x402'],
    })

  const source = (await getOpenAPI(world.server.url)).unwrapOr(null)
  if (source === null || isOpenApiParseFailure(source)) throw new Error('the document was not read')
  const warnings = [
    ...getWarningsForOpenAPI(source),
    ...getWarningsForL2(checkL2ForOpenAPI(source)),
    ...getWarningsForL4(checkL4ForOpenAPI(source)),
    ...(await getWarningsForFavicon(world.server.url)).unwrapOr([]),
  ]
  expect(warnings).toEqual([])
})

test('the discovery client reads a payable price from a service’s route', async () => {
  for (const url of urls()) {
    const checked = await checkEndpointSchema({ url, probe: true })
    if (!checked.found) throw new Error(`${url} was not found`)
    const paid = checked.advisories.find(({ method }) => method === 'GET')
    expect(paid).toMatchObject({
      authMode: 'paid',
      paymentOptions: [
        { protocol: 'x402', version: 2, network: CAIP2['solana-mainnet'], amount: '13750000' },
        { protocol: 'x402', version: 2, network: CAIP2['base-mainnet'], amount: '13750000' },
      ],
    })
    const { headers } = await world.server.get(new URL(url).pathname)
    const header = Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()
    const { issues } = validatePaymentRequiredDetailed(JSON.parse(header))
    expect(issues.filter(({ severity }) => severity === 'error')).toEqual([])
  }
})
