<?php

// Asks ZF1: a job a line comes in, the list of its outcomes goes out.
//
//   ZF1=<the folder of Zend/> php run.php <modules as JSON> <an empty folder for their controllers>
//
// A job has a request and sets of differences; a set that is null asks for ZF1 as it is.

error_reporting(0);
ini_set('display_errors', '0');
ini_set('max_input_vars', '1000');

$library = (string) getenv('ZF1');
set_include_path($library);
spl_autoload_register(function (string $class) use ($library): void {
    $file = $library . '/' . strtr($class, '_', '/') . '.php';
    // Controllers are for ZF1 to find.
    if (str_starts_with($class, 'Zend_') && is_file($file)) {
        require_once $file;
    }
});
foreach (['Front', 'Action', 'Request_Http', 'Router_Route_Module', 'Plugin_ErrorHandler'] as $name) {
    if (!class_exists("Zend_Controller_$name")) {
        fwrite(STDERR, "ZF1=\"$library\" lacks the class Zend_Controller_$name: name the folder that holds Zend/\n");
        exit(2);
    }
}
require __DIR__ . '/application.php';
require __DIR__ . '/model.php';

$modules = json_decode($argv[1], true);
writeControllers($modules, $argv[2]);
while (($line = fgets(STDIN)) !== false) {
    // Who asks may have died: nothing here may go on for ever.
    set_time_limit(30);
    $job = json_decode($line, true);
    $outcomes = [];
    foreach ($job['sets'] as $set) {
        $application = $set === null
            ? new Application($modules, $argv[2])
            : new Model($modules, $argv[2], new Differences($set['ids'], $set['names'], $job['search'], $job['form']));
        $outcomes[] = $application->answer($job['request']);
    }
    echo json_encode($outcomes, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE), "\n";
}
