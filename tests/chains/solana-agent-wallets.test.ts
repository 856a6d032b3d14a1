import { setTimeout as wait } from 'node:timers/promises'
import { fetchTransaction, memosIn } from '@market/chains/solana/read-transfer'
import { solanaWalletReader } from '@market/chains/solana/wallet/solana-wallet-reader'
import { solanaWalletSigner } from '@market/chains/solana/wallet/solana-wallet-signer'
import { TOKEN_2022_PROGRAM_ADDRESS } from '@market/chains/solana/wallet/token-2022'
import type { TokenMetadata } from '@market/core/ports/agent-wallets'
import { address, generateKeyPairSigner, signature } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lyingAboutExpiry, startSolanaRelay } from './solana-relay.ts'
import { type ServerWallet, startWalletWorld, TOKEN, type WalletWorld } from './solana-wallet-support.ts'

let world: WalletWorld
beforeAll(async () => {
  world = await startWalletWorld()
})
afterAll(() => world.stop())

/** As the node itself decodes the account. */
const parsedAccount = async (account: string) => {
  const config = { encoding: 'jsonParsed', commitment: 'confirmed' }
  const { value } = (await world.chain.call('getAccountInfo', account, config)) as {
    readonly value: { readonly owner: string; readonly data: { readonly parsed: { readonly info: unknown } } }
  }
  return { owner: value.owner, info: value.data.parsed.info }
}

const holdingOf = async (owner: string, mint: string) => {
  const seeds = { owner: address(owner), mint: address(mint), tokenProgram: TOKEN_2022_PROGRAM_ADDRESS }
  const [account] = await findAssociatedTokenPda(seeds)
  return { account, ...(await parsedAccount(account)) }
}

const newAddress = async () => (await generateKeyPairSigner()).address

/** The longest metadata: characters of 4 bytes. */
const LONGEST = { name: '𝒜'.repeat(32), symbol: '𝒜'.repeat(10), uri: 'u'.repeat(200) }

const expectMetadata = (mint: string, { name, symbol, uri }: TokenMetadata) =>
  expect.arrayContaining([
    { extension: 'metadataPointer', state: { authority: null, metadataAddress: mint } },
    {
      extension: 'tokenMetadata',
      state: { additionalMetadata: [], mint, name, symbol, updateAuthority: null, uri },
    },
  ])

describe('launch', () => {
  test.each([
    ['a usual token', TOKEN],
    ['the longest metadata', LONGEST],
  ])(
    'of %s creates a mint without authorities and costs exactly the announced lamports',
    async (_, token) => {
      const wallet = await world.serverWallet()
      const { launch } = await world.wallets.costs(token)
      const { signed, outcome } = await world.execute(wallet, { kind: 'launch', token })
      expect(outcome).toEqual({ kind: 'final', reference: signed.reference })
      expect(1_000_000_000n - (await world.lamportsOf(wallet.address))).toBe(launch)

      const mint = signed.mint ?? ''
      expect(await parsedAccount(mint)).toEqual({
        owner: TOKEN_2022_PROGRAM_ADDRESS,
        info: {
          decimals: 6,
          supply: '1000000000000000',
          isInitialized: true,
          mintAuthority: null,
          freezeAuthority: null,
          extensions: expectMetadata(mint, token),
        },
      })
      expect((await holdingOf(wallet.address, mint)).info).toMatchObject({
        owner: wallet.address,
        tokenAmount: { amount: '1000000000000000' },
      })
    },
  )

  test('costs without metadata are those of the longest, and a shorter token costs less', async () => {
    const [maximum, longest, usual] = await Promise.all([
      world.wallets.costs(),
      world.wallets.costs(LONGEST),
      world.wallets.costs(TOKEN),
    ])
    expect(maximum).toEqual(longest)
    expect(maximum.rentExempt).toBe(890_880n)
    // 6 960 lamports of rent for each byte.
    const bytes = Buffer.byteLength(Object.values(LONGEST).join(''))
    const shorter = bytes - Object.values(TOKEN).join('').length
    expect(maximum.launch - usual.launch).toBe(6_960n * BigInt(shorter))
    expect(usual.identity - usual.launch).toBe(6_960n * 8n)
  })

  test('metadata that is too long is not signed', async () => {
    const wallet = await world.serverWallet()
    const token = { ...TOKEN, name: `${LONGEST.name}x` }
    await expect(world.sign(wallet, { kind: 'launch', token })).rejects.toThrow(
      /name of a token is not too long/,
    )
  })

  test('signed twice with different blockhashes and sent twice creates one mint', async () => {
    const wallet = await world.serverWallet()
    const first = await world.sign(wallet, { kind: 'launch', token: TOKEN })
    const height = await world.rpc.getBlockHeight({ commitment: 'confirmed' }).send()
    while ((await world.rpc.getBlockHeight({ commitment: 'confirmed' }).send()) < height + 2n) await wait(20)
    const second = await world.sign(wallet, { kind: 'launch', token: TOKEN }, 2)
    expect(second.lastValidHeight).toBeGreaterThan(first.lastValidHeight ?? 0n)
    expect(second.mint).toBe(first.mint)
    await world.wallets.send(first)
    await world.wallets.send(second)

    const outcomes = await Promise.all(
      [first, second].map((signed) => world.observeUntil([signed], 'final', 'failed')),
    )
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['failed', 'final'])
    expect(await world.wallets.observe([first, second])).toEqual(
      outcomes.find(({ kind }) => kind === 'final'),
    )
    const mint = first.mint ?? ''
    expect((await parsedAccount(mint)).info).toMatchObject({
      supply: '1000000000000000',
      extensions: expectMetadata(mint, TOKEN),
    })
    expect(await tokensOf(wallet)).toEqual([mint])
  })

  test('succeeds when someone sent lamports to the address of the mint before', async () => {
    const wallet = await world.serverWallet()
    const attacker = await world.wallet()
    const { mint } = await world.sign(wallet, { kind: 'launch', token: TOKEN })
    const gift = { source: attacker, destination: address(mint ?? ''), amount: 1_000_000n }
    await world.run(attacker, [getTransferSolInstruction(gift)])
    const { outcome } = await world.execute(wallet, { kind: 'launch', token: TOKEN })
    expect(outcome.kind).toBe('final')
    expect((await parsedAccount(mint ?? '')).info).toMatchObject({ supply: '1000000000000000' })
  })

  test('without enough SOL fails and creates nothing', async () => {
    const { launch, rentExempt } = await world.wallets.costs(TOKEN)
    const wallet = await world.serverWallet(launch - 1n)
    const { outcome, signed } = await world.execute(wallet, { kind: 'launch', token: TOKEN })
    expect(outcome.kind).toBe('failed')
    expect(await world.wallets.balances(signed.mint ?? '')).toEqual({ lamports: 0n, usdcMicros: 0n })
    // Less than the rent-exempt minimum may not remain either.
    const poor = await world.serverWallet(launch + rentExempt - 1n)
    expect((await world.execute(poor, { kind: 'launch', token: TOKEN })).outcome.kind).toBe('failed')
    const enough = await world.serverWallet(launch + rentExempt)
    expect((await world.execute(enough, { kind: 'launch', token: TOKEN })).outcome.kind).toBe('final')
  })
})

const tokensOf = async ({ address: owner }: ServerWallet): Promise<readonly string[]> => {
  const filter = { programId: TOKEN_2022_PROGRAM_ADDRESS }
  const config = { encoding: 'jsonParsed', commitment: 'confirmed' }
  const { value } = (await world.chain.call('getTokenAccountsByOwner', owner, filter, config)) as {
    readonly value: readonly {
      readonly account: { readonly data: { readonly parsed: { readonly info: { readonly mint: string } } } }
    }[]
  }
  return value.map(({ account }) => account.data.parsed.info.mint)
}

describe('identity', () => {
  test('is one token that cannot be transferred, and costs exactly the announced lamports', async () => {
    const wallet = await world.serverWallet()
    const { identity } = await world.wallets.costs(TOKEN)
    const { signed, outcome } = await world.execute(wallet, { kind: 'identity', token: TOKEN })
    expect(outcome.kind).toBe('final')
    expect(1_000_000_000n - (await world.lamportsOf(wallet.address))).toBe(identity)
    const mint = address(signed.mint ?? '')
    const { info } = await parsedAccount(mint)
    expect(info).toMatchObject({ decimals: 0, supply: '1', mintAuthority: null, freezeAuthority: null })
    expect(info).toMatchObject({ extensions: expectMetadata(mint, TOKEN) })

    const owner = await wallet.keys()
    const other = await newAddress()
    const tokenProgram = TOKEN_2022_PROGRAM_ADDRESS
    const { account: source } = await holdingOf(wallet.address, mint)
    const [ata] = await findAssociatedTokenPda({ owner: other, mint, tokenProgram })
    const reference = await world.run(owner, [
      getCreateAssociatedTokenIdempotentInstruction({ payer: owner, ata, owner: other, mint, tokenProgram }),
    ])
    expect((await fetchTransaction(world.rpc, reference))?.meta?.err).toBeNull()
    const transfer = getTransferCheckedInstruction(
      { source, mint, destination: ata, authority: owner, amount: 1n, decimals: 0 },
      { programAddress: tokenProgram },
    )
    const refused = await world.run(owner, [transfer])
    // TokenError::NonTransferable
    expect((await fetchTransaction(world.rpc, refused))?.meta?.err).toEqual({
      InstructionError: [0n, { Custom: 37n }],
    })
    expect((await holdingOf(wallet.address, mint)).info).toMatchObject({ tokenAmount: { amount: '1' } })
  })

  test('has another mint than the token of the same wallet', async () => {
    const wallet = await world.serverWallet()
    const launch = await world.execute(wallet, { kind: 'launch', token: TOKEN })
    const identity = await world.execute(wallet, { kind: 'identity', token: TOKEN })
    expect([launch.outcome.kind, identity.outcome.kind]).toEqual(['final', 'final'])
    expect((await tokensOf(wallet)).toSorted()).toEqual([launch.signed.mint, identity.signed.mint].toSorted())
  })
})

test('every transaction has a memo of its operation and attempt, and later attempts offer more', async () => {
  const wallet = await world.serverWallet(1_000_000_000n, 10n)
  const to = await newAddress()
  const intents = [
    { kind: 'launch', token: TOKEN },
    { kind: 'identity', token: TOKEN },
    { kind: 'send', asset: 'SOL', to, amount: 1_000_000n },
    { kind: 'send', asset: 'USDC', to, amount: 1n },
  ] as const
  for (const intent of intents) {
    const signed = await world.wallets.sign(wallet.seed, { id: `wop_${intent.kind}`, attempt: 3, intent })
    await world.wallets.send(signed)
    await world.observeUntil([signed], 'final')
    const transaction = await fetchTransaction(world.rpc, signature(signed.reference))
    expect(transaction && memosIn(transaction)).toEqual([`wop_${intent.kind}#3`])
  }
  const costs = await Promise.all([1, 2, 3].map((attempt) => world.wallets.sendCost('SOL', to, attempt)))
  expect(costs).toEqual([5_060n, 5_240n, 5_960n])
})

test('the last valid height is not lower than that of the other nodes when one reports a lower one', async () => {
  const wallet = await world.serverWallet()
  const lying = await startSolanaRelay(world.chain.url)
  lying.manner = lyingAboutExpiry
  const signer = solanaWalletSigner({ ...world.settings, rpcUrls: [lying.url, world.chain.url] })
  const height = await world.rpc.getBlockHeight({ commitment: 'processed' }).send()
  const intent = { kind: 'launch', token: TOKEN } as const
  const signed = await signer.sign(wallet.seed, { id: 'wop_lying', attempt: 1, intent })
  await lying.stop()
  expect(signed.lastValidHeight).toBeGreaterThanOrEqual(height + 150n)
  expect(await world.wallets.observe([signed])).toEqual({ kind: 'unknown' })
})

test('throws unavailable when no node responds', async () => {
  const settings = { ...world.settings, rpcUrls: ['http://127.0.0.1:1'] }
  const [reader, signer] = [solanaWalletReader(settings), solanaWalletSigner(settings)]
  const wallet = await world.serverWallet(0n)
  const signed = await world.sign(wallet, { kind: 'launch', token: TOKEN })
  const to = await newAddress()
  const claim = { reference: signed.reference, mint: signed.mint ?? '', creator: wallet.address }
  const operation = { id: 'wop_1', attempt: 1, intent: { kind: 'launch', token: TOKEN } } as const
  const calls = [
    () => reader.balances(wallet.address),
    () => reader.costs(),
    () => reader.sendCost('USDC', to),
    () => reader.rejectionReason('SOL', to),
    () => reader.rejectionReason('USDC', to),
    () => reader.proveMint(claim),
    () => signer.sign(wallet.seed, operation),
    () => signer.send(signed),
    () => signer.observe([signed]),
  ]
  for (const call of calls) await expect(call()).rejects.toMatchObject({ kind: 'unavailable' })
})
