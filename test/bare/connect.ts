// One connection by the demo partner of the stack that runs here, and a read.
import { visit } from '@course-exchange/testcontainers/browser';
import { readStackFile, userWho } from '../support/stack-file.ts';
import { openPartnerBrowser } from '../support/user-agent.ts';

const stack = readStackFile('.run/stack.json');
const browser = openPartnerBrowser(stack.demoPartner ?? '');
const user = userWho(stack, 'typical season');
const { arrival } = await browser.connect((request, jar) => visit(request, user, jar));
if (arrival.answer.status !== 200) throw new Error(`The demo partner answers ${arrival.answer.status}.`);
await browser.read();
console.log(`${user.email} is connected.`);
