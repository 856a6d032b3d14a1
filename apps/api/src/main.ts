import { readConfig } from './config.ts'
import { buildHouse } from './house.ts'

const house = await buildHouse(readConfig(process.env))
const address = await house.listen()
house.log.info({ address }, 'listening')

let stopping = false
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, async () => {
    if (stopping) process.exit(1)
    stopping = true
    house.log.info({ signal }, 'stopping')
    await house.stop()
    process.exit(0)
  })
}
