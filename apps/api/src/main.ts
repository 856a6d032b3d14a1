import { buildApp } from './build-app.ts'
import { readConfig } from './config.ts'

const app = await buildApp(readConfig(process.env))
const address = await app.listen()
app.log.info({ address }, 'listening')

// What a node of another chain tells would be believed: better not to answer at all.
app.broken.catch((error) => {
  app.log.fatal({ err: error }, 'cannot go on')
  process.exit(1)
})

let stopping = false
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, async () => {
    if (stopping) process.exit(1)
    stopping = true
    app.log.info({ signal }, 'stopping')
    await app.stop()
    process.exit(0)
  })
}
