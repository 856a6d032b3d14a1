import { type Needs, nameOf } from '@market/core/context'
import { keyReused } from '@market/core/idempotency'
import {
  type FileOwner,
  fileUrl,
  type ReceivedFile,
  readThrough,
  storeUpload,
  type UploadQuota,
} from '@market/files/uploads'
import { ApiError } from '@market/kernel/api-error'
import { hasPaidOrder } from '@market/trade/orders'
import type { IncomingFile, Sender } from './call.ts'
import { handler } from './handler.ts'

/** A transport other than HTTP has no form to send a file in. */
async function receive(file: IncomingFile | undefined, sender: Sender): Promise<ReceivedFile> {
  if (file !== undefined) return file.receive(sender)
  throw new ApiError('unsupported_media', 'Send the file with POST /api/upload as multipart/form-data.')
}

const senderOf = async ({ db, actor }: Needs<'db' | 'actor'>): Promise<Sender> => ({
  name: nameOf(actor),
  hasPaidOrder: await hasPaidOrder(db, nameOf(actor)),
})

const adviceOf = ({ bytes }: UploadQuota): string =>
  `With a paid order, bought or sold, you can upload ${Math.floor(bytes / 1024 / 1024)} MB a day.`

export const uploadHandlers = {
  uploadFile: handler('uploadFile', {
    run: async (ctx) => {
      const sender = await senderOf(ctx)
      const { paid, unpaid } = ctx.uploadQuotas
      // fix: upload-unpaid-quota
      const quota = sender.hasPaidOrder ? paid : { ...unpaid, advice: adviceOf(paid) }
      return storeUpload(ctx, sender.name as FileOwner, await receive(ctx.file, sender), quota)
    },
    present: (upload, ctx) => ({
      data: {
        id: upload.id,
        url: fileUrl(ctx.filesUrl, upload),
        media_type: upload.mediaType,
        size: upload.size,
        sha256: upload.sha256,
      },
    }),
    // The file is not read before the Idempotency-Key is looked up, so it is compared with the stored response.
    checkReplay: async (ctx, file, stored) => {
      const { sha256, fileName } = await readThrough(await receive(file, await senderOf(ctx)))
      const { data } = stored as { readonly data?: { readonly url: string; readonly sha256: string } }
      const isSame = data?.sha256 === sha256 && data.url.endsWith(`/${encodeURIComponent(fileName)}`)
      if (!isSame) throw keyReused()
    },
  }),
}
