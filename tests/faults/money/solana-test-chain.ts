import { randomBytes } from 'node:crypto'
import { installSolanaUsdc, SOLANA_USDC } from '@market/testing/solana-usdc'
import { startSurfpool } from '@market/testing/surfpool'
import {
  address,
  appendTransactionMessageInstructions,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase58Decoder,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  pipe,
  type Signature,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signBytes,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getTransferCheckedInstruction } from '@solana-program/token'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { payWith } from '../../support/stock-client.ts'
import { type Buyer, INITIAL_BALANCE, type Prepared, type TestChain } from './test-chain.ts'

const BEHIND_MS = 2_000
const SOL = 1_000_000_000n
const NETWORK = 'solana-mainnet'
const CAIP2 = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'

export interface SolanaTestChain extends TestChain {
  readonly genesisHash: string
  newBuyers(count: number): Promise<Buyer[]>
  /** The node counts time in slots, and falls behind on a busy machine: sets its clock to ours. */
  catchUp(): Promise<void>
}

/** A real Solana node whose slots last 40 ms unless said: what is signed dies after 150 of them, six seconds. */
export async function startSolanaTestChain(slotTimeMs = 40): Promise<SolanaTestChain> {
  const chain = await startSurfpool({ slotTimeMs })
  const rpc = createSolanaRpc(chain.url)
  const usdc = await installSolanaUsdc(chain, await generateKeyPairSigner())

  const newBuyer = async (): Promise<Buyer> => {
    const signer = await generateKeyPairSigner()
    await chain.fundSol(signer.address, SOL)
    await usdc.fund(signer.address, INITIAL_BALANCE)
    return {
      address: signer.address,
      key: signer.address,
      networks: [NETWORK],
      sign: async (message) =>
        getBase58Decoder().decode(
          await signBytes(signer.keyPair.privateKey, new TextEncoder().encode(message)),
        ),
      authorize: (_network, required) =>
        payWith({ network: CAIP2, client: new ExactSvmScheme(signer, { rpcUrl: chain.url }) }, required),
      async prepare(_network, to, amount): Promise<Prepared> {
        const [source, destination] = await Promise.all([usdc.accountOf(signer.address), usdc.accountOf(to)])
        const transfer = getTransferCheckedInstruction({
          source: address(source),
          mint: address(SOLANA_USDC),
          destination: address(destination),
          authority: signer,
          amount,
          decimals: 6,
        })
        const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
        const transaction = await signTransactionMessageWithSigners(
          pipe(
            createTransactionMessage({ version: 0 }),
            (message) => setTransactionMessageFeePayerSigner(signer, message),
            (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
            (message) => appendTransactionMessageInstructions([transfer], message),
          ),
        )
        const bytes = getBase64EncodedWireTransaction(transaction)
        return {
          network: NETWORK,
          amount,
          reference: getSignatureFromTransaction(transaction),
          send: async () =>
            void (await rpc.sendTransaction(bytes, { encoding: 'base64', skipPreflight: true }).send()),
        }
      },
    }
  }

  return {
    network: NETWORK,
    kind: 'solana',
    url: chain.url,
    genesisHash: chain.genesisHash,
    async newAccount() {
      const seed = randomBytes(32)
      const account = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(seed))
      await chain.fundSol(account.address, 100n * SOL)
      await usdc.fund(account.address, 0n)
      return { address: account.address, key: seed.toString('hex') }
    },
    async catchUp() {
      const slot = await rpc.getSlot({ commitment: 'processed' }).send()
      const at = Number(await rpc.getBlockTime(slot).send())
      const now = Date.now()
      if (now - at * 1_000 > BEHIND_MS) await chain.call('surfnet_timeTravel', { absoluteTimestamp: now })
    },
    newBuyers: (count) => Promise.all(Array.from({ length: count }, newBuyer)),
    balanceOf: (owner) => usdc.balanceOf(owner),
    async isMined(reference) {
      const { value } = await rpc
        .getSignatureStatuses([reference as Signature], { searchTransactionHistory: true })
        .send()
      return value[0]?.err === null
    },
    stop: () => chain.stop(),
  }
}
