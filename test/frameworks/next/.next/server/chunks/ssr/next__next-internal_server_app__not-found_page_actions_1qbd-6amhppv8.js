module.exports=[90836,a=>{"use strict";a.s([])}];

//# sourceMappingURL=next__next-internal_server_app__not-found_page_actions_1qbd-6amhppv8.js.map