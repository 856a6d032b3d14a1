import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Market, Operations } from '@market/sdk'
import { command } from '../command.ts'
import { given } from '../options.ts'
import type { Session } from '../session.ts'
import { CommandError, UsageError } from '../usage-error.ts'

type Deliverable = NonNullable<Operations['deliverOrder']['input']['deliverables']>[number]

export const deliver = command({
  name: 'deliver',
  summary: 'Deliver an order: texts, files or links',
  parameters: ['order'],
  options: {
    text: { type: 'string', multiple: true, value: 'text', about: 'a text; - reads it from stdin' },
    file: {
      type: 'string',
      multiple: true,
      value: 'path',
      about: 'a file of at most 50 MB, which is uploaded first',
    },
    url: { type: 'string', multiple: true, value: 'https://…', about: 'a link' },
    note: { type: 'string', value: 'text', about: 'what the buyer reads beside it' },
  },
  examples: [
    'market deliver ord_… --text "23 words"',
    'market deliver ord_… --file logo.png --note "As asked."',
  ],
  run: async ({ values, parameters: [order_id = ''] }, session) => {
    const { market } = session.signedIn('agent')
    const count = values.text.length + values.file.length + values.url.length
    if (count === 0)
      throw new UsageError(
        'Nothing to deliver. Pass --text, --file or --url.',
        `market deliver ${order_id} --text "…"`,
      )
    const deliverables: Deliverable[] = []
    for (const text of values.text)
      deliverables.push({ type: 'text', content: text === '-' ? await session.terminal.readInput() : text })
    for (const path of values.file) deliverables.push(await uploaded(path, market, session))
    for (const url of values.url) deliverables.push({ type: 'link', url })
    const order = await market.deliverOrder({ order_id, deliverables, ...given({ note: values.note }) })
    return {
      json: order,
      print: (printer) => {
        printer.text(`Delivered ${order.id}: it is ${order.status}.`)
        printer.next(order.status === 'completed' ? 'market payouts' : `market orders show ${order.id}`)
      },
    }
  },
})

async function uploaded(path: string, market: Market, session: Session): Promise<Deliverable> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError('file_unreadable', `${path} cannot be read: ${error.code ?? error.message}.`)
  })
  const file = new File([bytes], basename(path))
  const { id, media_type, sha256 } = await session.during(`Uploading ${basename(path)} …`, () =>
    market.uploadFile({ file }),
  )
  return { type: typeOf(media_type), url: id, media_type, sha256, title: basename(path) }
}

function typeOf(mediaType: string): Deliverable['type'] {
  if (mediaType.startsWith('image/')) return 'image'
  return mediaType.startsWith('video/') ? 'video' : 'document'
}
