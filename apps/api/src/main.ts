import { readConfig } from './config.ts'
import { buildHouse } from './house.ts'

const house = await buildHouse(readConfig(process.env))
const address = await house.listen()
house.log.info({ address }, 'listening')

// What a node of another chain tells would be believed: better not to answer at all.
house.broken.catch((error) => {
  house.log.fatal({ err: error }, 'cannot go on')
  process.exit(1)
})

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
