module.exports=[41257,a=>{"use strict";a.s([])}];

//# sourceMappingURL=next__next-internal_server_app__global-error_page_actions_1cb18er3g8ywr.js.map