import { evmWallet, Market } from '@market/sdk'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PIXEL } from '../support/injected-wallets.ts'
import { type DevMarket, startDevMarket } from './dev-market.ts'
import { expectAccessible, newContext, openPage, signInAs } from './order-steps.ts'
import { installEvmWallet } from './page-wallet.ts'

/** A bounty from its form to the order, by a poster with a wallet, and a workspace from the order to its renewal, by a buyer with an account. */

/** Markup, right-to-left, emoji and one long word. */
const HOSTILE = `<img src=x onerror="window.ran=1"> שלום 🐟${'x'.repeat(300)}`

let dev: DevMarket
/** The program of the agent that sells. */
let seller: Market
let agentId: string
let servicePath: string

beforeAll(async () => {
  dev = await startDevMarket()
  const owner = privateKeyToAccount(generatePrivateKey())
  const registered = await new Market({ apiUrl: dev.api }).registerAgent({
    name: 'Pixel Smith',
    description: 'Draws pictures by hand, on a grid of pixels, for posts.',
  })
  agentId = registered.agent_id
  seller = new Market({ apiUrl: dev.api, apiKey: registered.api_key })
  await seller.updateMyAgent(
    { owner_wallet: owner.address, payout_address_base: owner.address },
    { cosigner: evmWallet(owner) },
  )
  const { slug } = await seller.createService({
    ...{ agent_id: agentId, category: 'image_gen', title: 'A picture for each post' },
    ...{ description: 'Up to three pictures in a week, each within minutes.', price_type: 'weekly' },
    ...{ price_usd: '12.00', quota_limit: 3 },
    requirement_fields: [{ label: 'Style', type: 'text', required: true }],
  } as never)
  servicePath = `/s/${registered.slug}/${slug}`
})
afterAll(() => dev?.stop())

test('a poster with a wallet posts a bounty, rejects a claim, accepts another one, pays it, and sees its order', async () => {
  const context = await newContext(dev)
  const wallet = await installEvmWallet(context, { rpc: dev.base.rpc, chainId: 8_453 })
  await dev.control('/fund', { network: 'base-mainnet', address: wallet.address, usdc: '100', native: '1' })
  const { page, problems, button } = await openPage(context)

  await page.goto(`${dev.web}/bounties`)
  await page.getByRole('link', { name: 'Post a bounty' }).click()
  await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
  await button(/Test wallet/).click()
  await page.waitForURL(`${dev.web}/bounties/new`)
  await page.getByLabel('Title').fill(HOSTILE.slice(0, 100))
  await page.getByLabel('What is to be done').fill(HOSTILE)
  await page.getByLabel('Category').selectOption('image_gen')
  await page.getByLabel(/Budget/).fill('20')
  await page.getByText('22.00 USDC').waitFor()
  await expectAccessible(page, 'post-bounty')
  await button('Post the bounty').click()
  await page.waitForURL(/\/b\/bnty_/)
  const bounty_id = page.url().split('/').at(-1) ?? ''
  await page.getByRole('heading', { name: 'No agent has claimed it yet' }).waitFor()

  const claim = await seller.claimBounty({ bounty_id, message: HOSTILE })
  const rival = await new Market({ apiUrl: dev.api }).registerAgent({
    name: 'Rival',
    description: 'Claims what others claim, a little later than they do.',
  })
  const { access_token } = await dev.control<{ readonly access_token: string }>('/idp/token', {
    email: 'rival@example.com',
  })
  await new Market({ apiUrl: dev.api, token: access_token }).linkAgent({ api_key: rival.api_key } as never)
  await new Market({ apiUrl: dev.api, apiKey: rival.api_key }).claimBounty({ bounty_id })
  // The page reads claims again by itself; nothing tells it of them.
  await page.getByRole('heading', { name: '2 agents want to do it' }).waitFor()
  await expectAccessible(page, 'bounty-claims')
  await page
    .getByRole('listitem')
    .filter({ hasText: 'Rival' })
    .getByRole('button', { name: 'Reject' })
    .click()
  await button('Reject the claim').click()
  await page.getByRole('heading', { name: '1 agent wants to do it' }).waitFor()
  await button(/^Accept and pay 22.00/).click()
  await button('Switch to Base and pay').waitFor()
  await expectAccessible(page, 'bounty-pay')
  wallet.rejectsNext = true
  await button('Switch to Base and pay').click()
  await page.getByText('You rejected the request in the wallet.').waitFor()
  await button('Switch to Base and pay').click()
  await page.getByRole('heading', { name: 'You accepted a claim' }).waitFor()
  await expectAccessible(page, 'bounty-claimed')
  expect(wallet.prompts).toEqual([
    ...['connect', 'sessions.start', 'bounties.create', 'bounties.reject'],
    ...['switch', 'switch', 'transfer', 'bounties.accept'],
  ])
  await page.getByRole('link', { name: 'Open the order' }).click()
  await page.getByRole('heading', { name: 'Pixel Smith was told to start' }).waitFor()
  expect(claim.status).toBe('pending')

  await page.goto(`${dev.web}/bounties/mine`)
  await page.getByText('At work').waitFor()
  await expectAccessible(page, 'my-bounties')
  expect(problems).toEqual([])
  await context.close()
})

test('a buyer with an account subscribes, sees each result without a reload, and renews with one signature', async () => {
  const context = await newContext(dev)
  const wallet = await installEvmWallet(context, { rpc: dev.base.rpc, chainId: 8_453 })
  await dev.control('/fund', { network: 'base-mainnet', address: wallet.address, usdc: '24' })
  await signInAs(dev, context, 'buyer@example.com')
  const { page, problems, button } = await openPage(context)

  await page.goto(`${dev.web}${servicePath}/order`)
  await page.getByLabel('Style').fill('Flat')
  await button('Order for 12.00 USDC').click()
  await button(/^Pay 12.00/).click()
  await button('Pay with Test wallet').click()
  await page.getByRole('link', { name: 'Open the workspace' }).click()
  await page.getByRole('heading', { name: 'What should Pixel Smith make?' }).waitFor()
  const order_id = page.url().split('/').at(-1) ?? ''
  const prompt = page.getByLabel('What Pixel Smith should make')
  const request = async (text: string) => {
    await prompt.fill(text)
    await button('Request it').click()
  }
  const answer = async (fields: object) => {
    const { data } = await seller.listGenerations({ order_id })
    const waiting = data.find(({ status }) => status === 'pending')
    await seller.answerGeneration({ order_id, deliverable_id: waiting?.id, ...fields } as never)
  }

  await page.getByText(/What Pixel Smith asks/).click()
  await page.getByLabel('Style').fill('Black and white')
  await request(HOSTILE)
  await page.getByText('Style: Black and white').waitFor()
  await page.getByText('2 of 3 left').first().waitFor()
  expect(await prompt.inputValue()).toBe('')
  await expectAccessible(page, 'workspace-pending')
  const picture = await seller.uploadFile({
    file: new File([Buffer.from(PIXEL, 'base64')], 'fish.png'),
  } as never)
  await answer({ deliverable: { type: 'image', url: picture.id, title: 'fish.png' } })
  // Live, without a reload.
  await page.getByRole('img', { name: 'fish.png' }).waitFor()
  await request('A portrait of my neighbour')
  await page.getByText('1 completed, 1 pending').waitFor()
  await answer({ status: 'failed', reason: 'I draw no people.' })
  await page.getByText('I draw no people.').waitFor()
  await page.getByText('1 completed, 1 failed').waitFor()
  await expectAccessible(page, 'workspace')

  await button('Renew for 12.00 USDC').click()
  await button('Pay with Test wallet').click()
  await page.waitForURL((url) => url.pathname.startsWith('/workspaces/') && !url.pathname.endsWith(order_id))
  await page.getByText('Nothing was requested yet.').waitFor()
  await page.getByRole('link', { name: 'Your workspaces' }).first().click()
  await expect.poll(() => page.getByText('A picture for each post').count()).toBe(2)
  await expectAccessible(page, 'workspaces')

  await page.goto(`${dev.web}/workspaces/${order_id}`)
  await request('The second picture')
  await page.getByText('1 completed, 1 pending, 1 failed').waitFor()
  await answer({ deliverable: { type: 'text', content: 'Second' } })
  await page.getByText('2 completed').waitFor()
  await request('The third picture')
  await page.getByRole('heading', { name: 'All 3 generations are requested' }).waitFor()
  await answer({ deliverable: { type: 'text', content: 'Third' } })
  await page.getByRole('heading', { name: 'The workspace has ended' }).waitFor()
  // Three of four were completed: a quarter goes back.
  await page.getByText(/3\.00 go back to the wallet that paid/).waitFor()
  await expectAccessible(page, 'workspace-ended')
  expect(wallet.prompts).toEqual(['connect', 'switch', 'payment', 'payment'])
  expect(problems).toEqual([])
  await context.close()
})
