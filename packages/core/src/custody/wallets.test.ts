import { createPrivateKey, createPublicKey, randomBytes, sign, verify } from 'node:crypto'
import { testKeys } from '@market/testing/keys'
import { makeAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { solanaSigner } from '@market/testing/solana-signer'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { base58, newSolanaKey } from './solana-key.ts'
import { createWallet, findUnopenableWallets } from './wallets.ts'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/** Decodes base58 independently of the code under test. */
function bytesOf(text: string): Buffer {
  const zeros = /^1*/.exec(text)?.[0].length ?? 0
  let number = 0n
  for (const digit of text) number = number * 58n + BigInt(ALPHABET.indexOf(digit))
  const hex = number === 0n ? '' : number.toString(16)
  return Buffer.concat([
    Buffer.alloc(zeros),
    Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex'),
  ])
}

describe('base58', () => {
  test.each([
    ['', ''],
    ['00', '1'],
    ['0000', '11'],
    ['61', '2g'],
    ['626262', 'a3gV'],
    ['516b6fcd0f', 'ABnLTmg'],
    ['00eb15231dfceb60925886b67d065299925915aeb172c06647', '1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L'],
    ['00'.repeat(32), '1'.repeat(32)],
  ])('encodes %s as %s', (hex, text) => {
    expect(base58(Buffer.from(hex, 'hex'))).toBe(text)
  })

  test('decoding the text returns the same bytes, for any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => bytesOf(base58(bytes)).equals(bytes)))
  })

  test('encodes an address like the Solana library', async () => {
    for (let n = 0; n < 20; n++) {
      const { address } = await solanaSigner()
      expect(base58(bytesOf(address))).toBe(address)
    }
  })
})

describe('server wallets', () => {
  let ctx: MarketContext
  let stop: () => Promise<void>
  beforeAll(async () => {
    const database = await testDatabase()
    ctx = marketContext({ db: database.db })
    stop = database.stop
  })
  afterAll(() => stop())

  /** Whether the address verifies what the seed signs. */
  const matches = (seed: Buffer, address: string): boolean => {
    const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
    const publicKey = createPublicKey({
      key: Buffer.concat([SPKI, bytesOf(address)]),
      format: 'der',
      type: 'spki',
    })
    return verify(null, Buffer.from('x'), publicKey, sign(null, Buffer.from('x'), privateKey))
  }

  test('newSolanaKey: the seed signs for the address, and the address is a valid wallet', () => {
    for (let n = 0; n < 50; n++) {
      const { address, seed } = newSolanaKey()
      expect(seed).toHaveLength(32)
      expect(matches(seed, address)).toBe(true)
      expect(ctx.signatures.parseWallet(address, 'solana')?.key).toBe(address)
    }
  })

  test('createWallet: stores the seed sealed to the public key, and it opens only for its own row', async () => {
    const { agent, solanaAddress } = await makeAgent(ctx)
    const row = await ctx.db
      .selectFrom('agent_wallets')
      .selectAll()
      .where('agent_id', '=', agent.id)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({ chain: 'solana', address: solanaAddress })
    const place = { row: `agent_wallets:${agent.id}:solana:${solanaAddress}`, field: 'secret' }
    const seed = await ctx.seeds.open(row.secret_sealed, place)
    expect(matches(seed, solanaAddress)).toBe(true)
    expect(row.secret_sealed.includes(seed)).toBe(false)
    const elsewhere = { ...place, row: place.row.replace(agent.id, 'agt_1_0') }
    await expect(ctx.seeds.open(row.secret_sealed, elsewhere)).rejects.toThrow()
    await expect(ctx.vault.open(row.secret_sealed, place)).rejects.toThrow()
  })

  test('agent_wallets: a seed that the vault sealed cannot be stored, as was done before', async () => {
    const { agent } = await makeAgent(ctx)
    const sealed = ctx.vault.seal(randomBytes(32).toString('base64'), { row: 'x', field: 'secret' })
    const change = ctx.db
      .updateTable('agent_wallets')
      .set({ secret_sealed: sealed })
      .where('agent_id', '=', agent.id)
    await expect(change.execute()).rejects.toMatchObject({ constraint: 'agent_wallets_sealed_to_key' })
  })

  test('findUnopenableWallets: reports wallets that are sealed to a key of another pair', async () => {
    expect(await findUnopenableWallets(ctx)).toEqual([])
    const { solanaAddress } = await makeAgent({ ...ctx, vault: testKeys().vault })
    expect(await findUnopenableWallets(ctx)).toEqual([solanaAddress])
  })

  test('createWallet: fails for a second wallet of an agent on the same chain', async () => {
    const { agent } = await makeAgent(ctx)
    await expect(ctx.transact((tx) => createWallet(ctx, tx, agent.id))).rejects.toMatchObject({
      code: '23505',
    })
  })
})
