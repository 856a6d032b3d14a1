import { envLine } from '@market/platform/settings/env-line'
import { newKeySettings } from '@market/platform/vault/new-keys'
import { formatPublicEntry, parseReceiptKey } from '@market/platform/vault/receipt-keys'

const print = (comment: string, settings: Readonly<Record<string, string>>) => {
  const lines = Object.entries(settings).map(([name, value]) => envLine(name, value))
  process.stdout.write(`# ${comment}\n${lines.join('\n')}\n`)
}

/** Prints new random keys as settings. It stores nothing and reads no setting. */
const { both, api, worker } = newKeySettings()
print('api and worker', both)
print('api only', api)
const receiptKey = parseReceiptKey(api.RECEIPT_KEYS)
if (receiptKey !== undefined)
  process.stdout.write(
    `# what stays of RECEIPT_KEYS when another key signs: ${formatPublicEntry(receiptKey.publicKey)}\n`,
  )
print('worker only; keep a copy offline, because without it no seed of a wallet can be opened', worker)
