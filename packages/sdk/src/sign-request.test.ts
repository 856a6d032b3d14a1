import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { requestSigner } from './sign-request.ts'
import { evmWallet, type SolanaKeypair, solanaWallet, type WalletSigner } from './wallets.ts'

const SITE = 'https://market.example'
const PURPOSE = 'orders.pay:ord_1'

/** The lines as the API writes them. */
const linesOf = (address: string, account = 'Ethereum'): string[] => [
  `market.example wants you to sign in with your ${account} account:`,
  address,
  '',
  'Pay an order. Signing sends no transaction and costs nothing.',
  '',
  `URI: ${SITE}`,
  'Version: 1',
  'Chain ID: 8453',
  'Nonce: 1700000000000',
  'Issued At: 2023-11-14T22:13:20.000Z',
  'Expiration Time: 2023-11-14T22:18:20.000Z',
  `Request ID: ${PURPOSE}`,
]

const wallet = evmWallet(privateKeyToAccount(generatePrivateKey()))

/** The texts that the wallet signs when the server sends this one. */
async function signedTexts(signer: WalletSigner, lines: readonly string[]): Promise<string[]> {
  const texts: string[] = []
  const signText = (text: string) => {
    texts.push(text)
    return signer.signText(text)
  }
  const recording = { ...signer, signText }
  const message = lines.join('\n')
  const sign = requestSigner(
    async () => ({ message, wallet_sig_ts: 1_700_000_000_000, expires_at: '' }),
    SITE,
  )
  await sign(recording, PURPOSE).catch((error: Error) =>
    expect(error.message).toContain('Nothing was signed'),
  )
  return texts
}

const OTHER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const replaced = (index: number, line: string) => (lines: readonly string[]) => lines.with(index, line)

describe('a text to sign', () => {
  test('is signed when it is of the site, the wallet and the purpose', async () => {
    expect(await signedTexts(wallet, linesOf(wallet.address))).toHaveLength(1)
    expect(await signedTexts(wallet, linesOf(wallet.address.toLowerCase()))).toHaveLength(1)
  })

  test('for Solana names a Solana account and exactly its address', async () => {
    const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
    const solana = await solanaWallet(pair as SolanaKeypair)
    expect(await signedTexts(solana, linesOf(solana.address, 'Solana'))).toHaveLength(1)
    expect(await signedTexts(solana, linesOf(solana.address, 'Ethereum'))).toEqual([])
    expect(await signedTexts(solana, linesOf(solana.address.toLowerCase(), 'Solana'))).toEqual([])
  })

  test.each([
    ['another site', replaced(0, 'bank.example wants you to sign in with your Ethereum account:')],
    ['another account type', replaced(0, 'market.example wants you to sign in with your Solana account:')],
    ['another address', replaced(1, OTHER)],
    ['another URI', replaced(5, 'URI: https://bank.example')],
    ['no URI', (lines: readonly string[]) => lines.toSpliced(5, 1)],
    ['two URIs', (lines: readonly string[]) => lines.toSpliced(3, 0, 'URI: https://bank.example')],
    ['another purpose', replaced(11, 'Request ID: orders.pay:ord_2')],
    ['two purposes', (lines: readonly string[]) => lines.toSpliced(3, 0, 'Request ID: session')],
    ['the purpose before the end', (lines: readonly string[]) => [...lines, 'Resources:']],
    ['nothing but the purpose', (lines: readonly string[]) => lines.slice(-1)],
  ])('with %s is not signed', async (_, change) => {
    expect(await signedTexts(wallet, change(linesOf(wallet.address)))).toEqual([])
  })
})
