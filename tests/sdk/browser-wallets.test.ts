import { type BrowserWallet, watchWallets } from '@market/sdk/wallets'
import { verifyMessage, verifyTypedData } from 'viem'
import { expect, test } from 'vitest'
import { type InjectedEvmWallet, injectEvmWallet, injectSolanaWallet } from '../support/injected-wallets.ts'

/** Wallets that a page finds. Payments of both chains are accepted by the API in tests/orders/signed-payment.test.ts. */

const BASE = {
  network: 'base-mainnet',
  caip2: 'eip155:8453',
  chain_id: 8453,
  usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
}
const ALT = { ...BASE, network: 'alt-mainnet', caip2: 'eip155:42161', chain_id: 42_161 }
const requirementOn = ({ caip2, usdc }: typeof BASE) => ({
  scheme: 'exact',
  network: caip2,
  asset: usdc,
  amount: '25000000',
  payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  maxTimeoutSeconds: 300,
  extra: { name: 'USD Coin', version: '2' },
})

async function connected(change: (wallet: InjectedEvmWallet) => void = () => undefined) {
  const page = new EventTarget()
  const injected = injectEvmWallet()
  change(injected)
  injected.install(page)
  let found: readonly BrowserWallet[] = []
  watchWallets((wallets) => {
    found = wallets
  }, page)()
  const [wallet] = found as readonly [BrowserWallet]
  expect(await wallet.connect()).toBe(injected.account.address)
  return { injected, wallet }
}

test('watchWallets: finds wallets that came before and after, each once, until it is stopped', async () => {
  const page = new EventTarget()
  const seen: string[][] = []
  injectEvmWallet().install(page)
  const stop = watchWallets((wallets) => seen.push(wallets.map(({ id, chain }) => `${id} ${chain}`)), page)
  const solana = await injectSolanaWallet()
  solana.install(page)
  page.dispatchEvent(new CustomEvent('eip6963:requestProvider'))
  stop()
  solana.install(page)
  expect(seen).toEqual([['base:test.wallet base'], ['base:test.wallet base', 'solana:Test wallet solana']])
})

test('watchWallets: without a page it calls back once with nothing', () => {
  const seen: unknown[] = []
  watchWallets((wallets) => seen.push(wallets))()
  expect(seen).toEqual([[]])
})

test('signMessage: the signature is one of the connected account', async () => {
  const { wallet, injected } = await connected()
  const message = 'A text to sign.\nGröße'
  const signature = (await wallet.signMessage(message)) as `0x${string}`
  expect(await verifyMessage({ address: injected.account.address, message, signature })).toBe(true)
  expect(injected.prompts).toEqual(['connect', 'message'])
})

test('signPayment: signs exactly the requirement, with one window on a chain that the wallet shows', async () => {
  const { wallet, injected } = await connected((one) => {
    one.chainId = 8453
  })
  const requirement = requirementOn(BASE)
  const signed = await wallet.signPayment(requirement, { network: BASE })
  expect(signed).toMatchObject({ x402Version: 2, accepted: requirement })
  const { authorization, signature } = signed.payload as {
    authorization: Record<string, unknown>
    signature: `0x${string}`
  }
  expect(authorization).toMatchObject({
    from: injected.account.address,
    to: requirement.payTo,
    value: requirement.amount,
  })
  const types = ['from address', 'to address', 'value uint256', 'validAfter uint256', 'validBefore uint256']
  expect(
    await verifyTypedData({
      address: injected.account.address,
      domain: { ...requirement.extra, chainId: 8453, verifyingContract: BASE.usdc as `0x${string}` },
      types: {
        TransferWithAuthorization: [...types, 'nonce bytes32'].map((one) => {
          const [name = '', type = ''] = one.split(' ')
          return { name, type }
        }),
      },
      primaryType: 'TransferWithAuthorization',
      message: authorization,
      signature,
    }),
  ).toBe(true)
  expect(injected.prompts).toEqual(['connect', 'payment'])
})

test('signPayment: an unknown chain is added when the network has a public node, and switched to', async () => {
  const { wallet, injected } = await connected()
  const network = { ...ALT, public_rpc_url: 'https://node.example', coin: 'ETH' }
  await wallet.signPayment(requirementOn(ALT), { network })
  expect(injected.prompts).toEqual(['connect', 'add', 'switch', 'payment'])
  expect(injected.added).toEqual([
    {
      chainId: '0xa4b1',
      chainName: 'alt-mainnet',
      rpcUrls: ['https://node.example'],
      nativeCurrency: { name: 'ETH', symbol: 'ETH', decimals: 18 },
    },
  ])
})

test.each([
  ['an unknown chain without a public node', 'WalletChainUnknown', () => undefined, ALT],
  [
    'a rejection by the user',
    'WalletRejected',
    (one: InjectedEvmWallet) => {
      one.rejectsNext = true
    },
    BASE,
  ],
  [
    'an account that the wallet does not show any more',
    'WalletWrongAccount',
    (one: InjectedEvmWallet) => {
      one.shown = ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8']
    },
    BASE,
  ],
])('signPayment: %s throws %s', async (_, name, change, network) => {
  const { wallet, injected } = await connected()
  change(injected)
  await expect(wallet.signPayment(requirementOn(network), { network })).rejects.toMatchObject({ name })
})

test.each([
  ['another token', { asset: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }],
  ['another network', { network: 'eip155:1' }],
  ['no amount', { amount: '0' }],
])('signPayment: a requirement of %s is not shown to the wallet', async (_, change) => {
  const { wallet, injected } = await connected()
  const requirement = { ...requirementOn(BASE), ...change }
  await expect(wallet.signPayment(requirement, { network: BASE })).rejects.toThrow('Nothing was signed')
  expect(injected.prompts).toEqual(['connect'])
})

test('sendUsdc: sends the amount to the address by a transfer of the token', async () => {
  const { wallet, injected } = await connected()
  const to = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  await wallet.sendUsdc?.({ network: BASE, to, amountUsd: '25.00' })
  expect(injected.sent).toEqual([
    {
      from: injected.account.address,
      to: BASE.usdc,
      data: `0xa9059cbb${to.slice(2).toLowerCase().padStart(64, '0')}${(25_000_000).toString(16).padStart(64, '0')}`,
      value: '0x0',
    },
  ])
})
