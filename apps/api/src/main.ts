import { buildApp } from './build-app.ts'
import { readConfig } from './config.ts'

const app = await buildApp(readConfig(process.env))
const address = await app.listen()
app.log.info({ address }, 'listening')

// Data of a node on another chain would be trusted, so the api stops.
app.broken.catch((error) => {
  app.log.fatal({ err: error }, 'api failed')
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
