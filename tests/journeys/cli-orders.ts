import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { cliHere } from '../support/cli.ts'
import { until } from '../support/until.ts'

/** Orders of an account, from both sides, in the market of the test that calls this. */

interface World {
  readonly url: string
  readonly chain: {
    readonly fund: (address: Hex) => Promise<void>
    readonly mint: (to: Hex, amount: bigint) => Promise<Hex>
    readonly transfer: (from: ReturnType<typeof privateKeyToAccount>, to: Hex, amount: bigint) => Promise<Hex>
    readonly included: (hash: Hex) => Promise<void>
    readonly balanceOf: (address: Hex) => Promise<bigint>
  }
  /** Has stored the API key of an agent with a service at 5.00 USD. */
  readonly seller: { readonly folder: string }
  readonly buyer: { readonly folder: string; readonly token: string }
}

export function testOrders(worldOf: () => Promise<World>): void {
  describe('orders of an account', () => describeOrders(worldOf))
}

function describeOrders(worldOf: () => Promise<World>): void {
  const walletKey = generatePrivateKey()
  const wallet = privateKeyToAccount(walletKey)
  let world: World
  let seller: ReturnType<typeof cliHere>
  let buyer: ReturnType<typeof cliHere>
  let walletFile: string
  let fixed: string

  beforeAll(async () => {
    world = await worldOf()
    const { url, chain } = world
    seller = cliHere(world.seller.folder, { MARKET_API_URL: url })
    buyer = cliHere(world.buyer.folder, { MARKET_API_URL: url, MARKET_TOKEN: world.buyer.token })
    walletFile = join(world.buyer.folder, 'payer')
    writeFileSync(walletFile, walletKey, { mode: 0o600 })
    fixed = (await seller.json('services', 'mine')).data[0].id
    await chain.fund(wallet.address)
    await chain.included(await chain.mint(wallet.address, 100_000_000n))
  })

  const place = async (service: string): Promise<string> =>
    (await buyer.json('hire', service, '--brief', 'Count the words of this text.', '--account')).id

  /** Sends USDC as the order says. */
  async function transfer(order: string, micros: bigint): Promise<string> {
    const { order: shown } = await buyer.json('orders', 'show', order)
    const hash = await world.chain.transfer(wallet, shown.payment[0].pay_to, micros)
    await world.chain.included(hash)
    return hash
  }

  const statusOf = async (order: string): Promise<string> =>
    (await buyer.json('orders', 'show', order)).order.status

  async function placePaid(): Promise<string> {
    const order = await place(fixed)
    const tx = await transfer(order, 5_000_000n)
    await buyer.json('pay', order, '--tx', tx, '--wallet-file', walletFile)
    await until('the order is paid', async () => (await statusOf(order)) === 'paid', { everyMs: 100 })
    return order
  }

  describe('pay', () => {
    test('the transfer of a wallet that signs pays the order once, whoever names it again', async () => {
      const order = await place(fixed)
      const pay = (tx: string, ...more: string[]) => ['pay', order, '--tx', tx, ...more]
      const before = await world.chain.balanceOf(wallet.address)
      const tx = await transfer(order, 5_000_000n)
      expect(await buyer.error(pay(tx))).toMatchObject({
        code: 'payer_unknown',
        next: `market pay ${order} --tx ${tx} --wallet-file <path>`,
      })
      const other = { MARKET_WALLET_KEY: generatePrivateKey() }
      expect(await buyer.error(pay(tx), other)).toMatchObject({ code: 'wrong_payer' })

      const paid = await buyer.json(...pay(tx, '--wallet-file', walletFile))
      expect(paid).toMatchObject({ id: order })
      expect([paid.escrow_tx_hash, paid.pending_tx_hash]).toContain(tx)
      await until('the order is paid', async () => (await statusOf(order)) === 'paid', { everyMs: 100 })
      const again = await buyer.run(pay(tx, '--wallet-file', walletFile))
      expect(again).toEqual({
        status: 0,
        error: '',
        out: `${order} is paid.\nnext  market orders show ${order}\n`,
      })
      expect(await world.chain.balanceOf(wallet.address)).toBe(before - 5_000_000n)

      const second = await place(fixed)
      const used = ['pay', second, '--tx', tx, '--wallet-file', walletFile]
      expect(await buyer.error(used)).toMatchObject({ code: 'transfer_used', next: 'market orders' })
    })

    test('a transfer that is too small leaves the order unpaid, and the next command shows what is due', async () => {
      const order = await place(fixed)
      const tx = await transfer(order, 1_000_000n)
      const { status, out, error } = await buyer.run(['pay', order, '--tx', tx], {
        MARKET_WALLET_KEY: walletKey,
      })
      expect({ status, out }).toEqual({ status: 1, out: '' })
      expect(error).toMatch(
        new RegExp(
          `^error .*5\\.00.*\\ncode {3}400 underpaid\\n.*next {3}market orders show ${order}\\n$`,
          's',
        ),
      )
      expect(error).not.toContain(walletKey.slice(2))
      expect(await statusOf(order)).toBe('quoted')
      for (const early of [
        await seller.error(['deliver', order, '--text', '7 words']),
        await buyer.error(['orders', 'approve', order]),
      ])
        expect(early).toMatchObject({ code: 'illegal_transition', next: `market orders show ${order}` })
    })

    test('hire: a wallet without USDC pays nothing, and the error names wallet, network and amounts', async () => {
      const hire = ['hire', fixed, '--brief', 'one two three', '--max-usd', '5.50']
      const key = generatePrivateKey()
      const { status, out, error } = await buyer.run(hire, { MARKET_WALLET_KEY: key })
      expect({ status, out }).toEqual({ status: 1, out: '' })
      const wallet = privateKeyToAccount(key).address.toLowerCase()
      expect(error).toContain(
        `error  ${wallet} holds 0.00 USDC on base-mainnet, and 5.50 USDC is due. Send 5.50 USDC to it, then pay again.\n`,
      )
      expect(error).not.toContain('next')
    })
  })

  test('revision, dispute and refund, and what each side may not do', async () => {
    const order = await placePaid()
    const act = (side: typeof buyer, name: string, ...more: string[]) =>
      side.json('orders', name, order, ...more)
    const rejected = async (side: typeof buyer, code: string, name: string, ...more: string[]) => {
      const error = await side.error(['orders', name, order, ...more])
      expect(error).toMatchObject({ code, message: expect.stringMatching(/\.$/) })
      expect(error.next).toContain(order)
    }
    const feedback = ['--feedback', 'Count the title too.']
    const reason = ['--reason', 'The number is still wrong.']

    await rejected(buyer, 'not_your_act', 'start')
    await rejected(buyer, 'illegal_transition', 'revision', ...feedback)
    await rejected(buyer, 'illegal_transition', 'dispute', ...reason)
    expect(await act(seller, 'start')).toMatchObject({ status: 'in_progress' })
    await rejected(buyer, 'not_late_yet', 'cancel')
    await seller.json('deliver', order, '--text', '7 words')
    await rejected(seller, 'not_your_act', 'approve')
    expect(await act(buyer, 'revision', ...feedback)).toMatchObject({ status: 'revision_requested' })
    expect((await seller.run(['orders', 'show', order])).out).toContain(
      `next  market deliver ${order} --text …`,
    )
    await rejected(seller, 'revision_included', 'decline-revision')
    await rejected(seller, 'delivered_before', 'cancel')
    await seller.json('deliver', order, '--text', '8 words')
    expect(await act(buyer, 'dispute', ...reason)).toMatchObject({ status: 'disputed' })
    expect((await seller.run(['orders', 'show', order])).out).toMatch(
      /^complaint +The number is still wrong\.$/m,
    )
    await rejected(seller, 'not_your_act', 'approve')
    const refunded = await seller.run(['orders', 'refund', order])
    expect(refunded.out).toBe(`${order} is cancelled.\nnext  market orders show ${order}\n`)
    const { refund } = await buyer.json('orders', 'show', order)
    expect(refund).toMatchObject({ amount_usd: '5.00', network: 'base-mainnet' })
    await rejected(buyer, 'illegal_transition', 'approve')
  })

  test('quote: the seller names a price with a message, and the buyer reads and accepts it', async () => {
    const service = await seller.json(
      ...['services', 'create', '--title', 'A translation of a text', '--price-type', 'quote'],
      ...['--description', 'Send a text with your order. I name a price and translate it.'],
    )
    expect((await buyer.run(['services', 'show', service.id])).out).toMatch(/^price +on request$/m)
    const order = await place(service.id)
    const accept = ['orders', 'accept', order]
    expect(await buyer.error(accept)).toMatchObject({
      code: 'illegal_transition',
      next: `market orders show ${order}`,
    })
    const shown = await seller.run(['orders', 'show', order])
    expect(shown.out).toContain(`next  market orders quote ${order} --price …`)
    const quote = ['orders', 'quote', order, '--price', '12.50', '--message', 'It is long.']
    expect((await buyer.error(quote)).code).toBe('no_api_key')
    const quoted = await seller.run(quote)
    expect(quoted.out).toBe(`${order} is quoted.\nnext  market orders show ${order}\n`)
    expect(await seller.error(quote)).toMatchObject({ code: 'illegal_transition' })
    const { out } = await buyer.run(['orders', 'show', order])
    expect(out).toMatch(/^price +12\.50 USD\nvalid until +\S+ \S+\nquote +It is long\.$/m)
    expect((await buyer.run(accept)).out).toContain(
      `next  market pay ${order} --tx <hash> --wallet-file <path>`,
    )
    expect(await buyer.json('orders', 'cancel', order)).toMatchObject({ status: 'cancelled' })
  })
}
